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
}

/** Bounds of `timeoutMs`, in milliseconds. A hanging endpoint holds a drain and its sockets for that long. */
export const timeoutBounds = { min: 100, max: 60_000 } as const;
/** Bounds of each wait in `retryMs`, in milliseconds, and the maximum number of them. */
export const retryBounds = { min: 10, max: 7 * 86_400_000, waitsMax: 20 } as const;
/** Maximum of `maxInFlight`, whatever the operator permits. */
export const inFlightMax = 1_000;
/** Bounds of `rate`, in attempts a second: one in a hundred seconds at least. */
export const rateBounds = { min: 0.01, max: 1_000 } as const;

/** Those of the limits that are set. */
export function limitsOf({ timeoutMs, retryMs, maxInFlight, rate }: DeliveryLimits): DeliveryLimits {
  return {
    ...(timeoutMs == null ? {} : { timeoutMs }),
    ...(retryMs == null ? {} : { retryMs }),
    ...(maxInFlight == null ? {} : { maxInFlight }),
    ...(rate == null ? {} : { rate }),
  };
}
