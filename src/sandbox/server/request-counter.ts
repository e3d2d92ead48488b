import type { Endpoint } from './endpoints.ts';

/** The body of `GET /_sandbox/requests`: numbers of requests since the start or the last reset. */
export interface RequestCounts {
  /** ISO 8601. */
  readonly since: string;
  readonly total: number;
  readonly endpoints: Partial<Record<Endpoint, number>>;
  /** By account; requests without a valid key and uploads count for none. */
  readonly owners: Record<string, number>;
  /** By status code; requests that were never answered are missing. */
  readonly statuses: Record<string, number>;
  readonly inFlight: number;
  readonly inFlightMax: number;
}

/** Counts the requests to the service; those to the control interface are not counted. */
export interface RequestCounter {
  began(endpoint: Endpoint, owner: string | undefined): void;
  answered(status: number): void;
  /** Called once for each request, when its response is sent or its connection is gone. */
  ended(): void;
  counts(): RequestCounts;
  /** Restarts the count; requests in flight remain in flight. */
  reset(): void;
}

/** A counter at zero. */
export function createRequestCounter(now: () => number): RequestCounter {
  let sinceMs = now();
  let total = 0;
  let inFlight = 0;
  let inFlightMax = 0;
  const endpoints = new Map<Endpoint, number>();
  const owners = new Map<string, number>();
  const statuses = new Map<string, number>();

  return {
    began(endpoint, owner) {
      total += 1;
      inFlight += 1;
      inFlightMax = Math.max(inFlightMax, inFlight);
      increment(endpoints, endpoint);
      if (owner !== undefined) increment(owners, owner);
    },
    answered: (status) => increment(statuses, String(status)),
    ended: () => void (inFlight -= 1),
    counts: () => ({
      since: new Date(sinceMs).toISOString(),
      total,
      endpoints: Object.fromEntries(endpoints),
      owners: Object.fromEntries(owners),
      statuses: Object.fromEntries(statuses),
      inFlight,
      inFlightMax,
    }),
    reset() {
      sinceMs = now();
      total = 0;
      inFlightMax = inFlight;
      for (const counts of [endpoints, owners, statuses]) counts.clear();
    },
  };
}

function increment<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
