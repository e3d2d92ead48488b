/** Something under way that can be ended. */
export interface Abortable {
  /**
   * Ends it at once: an exchange resolves as a failure `aborted`, or as the answer whose headers have
   * arrived.
   */
  abort(): void;
}

/** What is under way, each at a place of its own. */
export interface UnderWay {
  /** Takes one in and returns its place, for `remove`. */
  add(one: Abortable): number;
  /** Leaves a place to others. */
  remove(place: number): void;
  abortAll(): void;
}

/**
 * Nothing under way yet. Places are used again, so that thousands of exchanges a second cost no memory, as
 * they would in a Set.
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
