/** The places in flight of a drain. */
export interface DrainPlaces {
  /** Maximum number in flight as far as the endpoint's answers so far allow. */
  limit(): number;
  /**
   * Whether another callback may be sent beside those in flight, of which the oldest was sent at `oldestAt`
   * (ms); null when there are none.
   */
  isFree(inFlight: number, oldestAt: number | null, now: number): boolean;
  /** Takes a place that is free, beside so many in flight. */
  take(inFlight: number): void;
  /** Gives one back of so many in flight. */
  giveBack(inFlight: number): void;
}
