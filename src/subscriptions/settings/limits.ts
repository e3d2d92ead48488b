/** A subscription's own bounds of delivery. Null or missing means the daemon's own. */
export interface DeliveryLimits {
  /** Milliseconds for a whole callback, from connecting to the end of the response. */
  readonly timeoutMs?: number | null;
  /** Milliseconds between the attempts of an event; after the last wait one more attempt is made. */
  readonly retryMs?: readonly number[] | null;
  /** Maximum number of callbacks in flight; the daemon's maximum bounds it. */
  readonly maxInFlight?: number | null;
  /** Maximum number of attempts a second, over all processes. */
  readonly rate?: number | null;
  /** Maximum number of attempts a second that the endpoint itself has named; it lowers `rate`. */
  readonly allowedRate?: number | null;
}

/** Bounds of `timeoutMs`, in milliseconds. A hanging endpoint holds a drain and its sockets for that long. */
export const timeoutBounds = { min: 100, max: 60_000 } as const;
/** Bounds of each wait in `retryMs`, in milliseconds, and the maximum number of them. */
export const retryBounds = { min: 10, max: 7 * 86_400_000, waitsMax: 20 } as const;
/** Maximum of `maxInFlight`, whatever the operator permits. */
export const inFlightMax = 1_000;
/** Bounds of `rate`, in attempts a second: one in a hundred seconds at least. */
export const rateBounds = { min: 0.01, max: 1_000 } as const;

/** The rate in effect, in attempts a second; null when attempts are not paced. */
export function rateOf({ rate = null, allowedRate = null }: DeliveryLimits): number | null {
  if (rate === null || allowedRate === null) return rate ?? allowedRate;
  return Math.min(rate, allowedRate);
}

/**
 * The settings with the rate that the endpoint has allowed in its `WebHook-Allowed-Rate` (requests a minute,
 * CloudEvents Webhooks §4.2); null lifts it. The client's own `rate` stays, and the lower one is in effect.
 */
export function withAllowedRate<T extends DeliveryLimits>(settings: T, perMinute: number | null): T {
  const { min, max } = rateBounds;
  const allowedRate = perMinute === null ? null : Math.min(Math.max(perMinute / 60, min), max);
  return { ...settings, allowedRate };
}

/** Whether any of them is set: a version that does not know them would pass over it. */
export function hasLimits({ timeoutMs, retryMs, maxInFlight, rate, allowedRate }: DeliveryLimits): boolean {
  return [timeoutMs, retryMs, maxInFlight, rate, allowedRate].some((each) => each != null);
}

/** Those of the limits that are set. */
export function limitsOf({ timeoutMs, retryMs, maxInFlight, rate }: DeliveryLimits): DeliveryLimits {
  return {
    ...(timeoutMs == null ? {} : { timeoutMs }),
    ...(retryMs == null ? {} : { retryMs }),
    ...(maxInFlight == null ? {} : { maxInFlight }),
    ...(rate == null ? {} : { rate }),
  };
}
