/** An exchange in flight that can be aborted. */
export interface Abortable {
  /**
   * Ends it at once: the exchange resolves to a failure `aborted`, or to the response whose headers have
   * arrived.
   */
  abort(): void;
}

/** The exchanges in flight, each in a place of its own. */
export interface UnderWay {
  /** Adds one and returns its place, for `remove`. */
  add(one: Abortable): number;
  /** Frees a place for another one. */
  remove(place: number): void;
  abortAll(): void;
}

/**
 * No exchange in flight yet. Places are reused: thousands of exchanges a second then cost no memory, as they
 * would in a Set.
 */
export function createUnderWay(): UnderWay {
  const places: (Abortable | null)[] = [];
  const free: number[] = [];
  return {
    add(one) {
      const place = free.pop() ?? places.length;
      places[place] = one;
      return place;
    },
    remove(place) {
      places[place] = null;
      free.push(place);
    },
    abortAll() {
      for (const one of places) one?.abort();
    },
  };
}
