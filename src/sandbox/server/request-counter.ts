import type { Endpoint } from './endpoints.ts';

/** Counts the requests to the service; those to the control interface are not counted. */
export type RequestCounter = ReturnType<typeof createRequestCounter>;

/** The body of `GET /_sandbox/requests`: numbers of requests since the start or the last reset. */
export type RequestCounts = ReturnType<RequestCounter['counts']>;

/** A counter at zero. */
export function createRequestCounter(now: () => number) {
  let sinceMs = now();
  let total = 0;
  let inFlight = 0;
  let inFlightMax = 0;
  const endpoints = new Map<Endpoint, number>();
  const owners = new Map<string, number>();
  const statuses = new Map<string, number>();

  return {
    began(endpoint: Endpoint, owner: string | undefined): void {
      total += 1;
      inFlight += 1;
      inFlightMax = Math.max(inFlightMax, inFlight);
      increment(endpoints, endpoint);
      if (owner !== undefined) increment(owners, owner);
    },
    answered: (status: number) => increment(statuses, String(status)),
    /** Called once for each request, when its response is sent or its connection is gone. */
    ended: () => void (inFlight -= 1),
    counts: () => ({
      /** ISO 8601. */
      since: new Date(sinceMs).toISOString(),
      total,
      endpoints: Object.fromEntries(endpoints),
      /** By account; requests without a valid key and uploads count for none. */
      owners: Object.fromEntries(owners),
      /** By status code; requests that were never answered are missing. */
      statuses: Object.fromEntries(statuses),
      inFlight,
      inFlightMax,
    }),
    /** Restarts the count; requests in flight remain in flight. */
    reset(): void {
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
