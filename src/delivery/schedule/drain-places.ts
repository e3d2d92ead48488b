/** The places in flight of a drain. */
export interface DrainPlaces {
  /** Maximum number in flight as far as the endpoint's answers so far allow. */
  limit(): number;
  /**
   * Whether another callback may be sent beside those in flight, of which the oldest was sent at `oldestAt`
   * (ms); null when there are none.
   */
  isFree(inFlight: number, oldestAt: number | null, now: number): boolean;
  /** Takes a free place beside this number in flight. */
  take(inFlight: number): void;
  /** Gives back one of this number in flight. */
  giveBack(inFlight: number): void;
}
