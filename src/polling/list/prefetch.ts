/** Asks for the pages of one list, each as soon as the one before it has arrived. */
export interface PagesAhead<T> {
  /** The answer to the page whose turn it is, which is asked for now unless that has been done. */
  take(): Promise<T>;
  /**
   * To be called when the turn has moved on. A page that was asked for in the belief that its turn would come
   * is dropped if another's has.
   */
  turn(): void;
  /** True when the page whose turn it is has been asked for. */
  isAsked(): boolean;
  /** Asks for it, unless that has been done. */
  ask(): void;
  /** Resolves when no request is under way any more. Never rejects. */
  settled(): Promise<void>;
}

export interface PagesAheadDeps<T> {
  /**
   * Asks for a page. `onArrival` is called when it is here and not parsed yet, once more when it had to be
   * read again. Does not reject.
   */
  readonly fetch: (offset: number, onArrival: () => void) => Promise<T>;
  /** Where the page begins whose turn it is. */
  readonly offset: () => number;
  /** Where the one after it most likely begins; null to wait until that is known. */
  readonly likelyNext: () => number | null;
}

interface Asked<T> {
  readonly offset: number;
  readonly answer: Promise<T>;
  readonly hasArrived: () => boolean;
}

/**
 * Nothing asked for yet. While one page is parsed and compared, the service works on the next. Two are never
 * on their way at once: served out of turn they would hide what moves from one to the other meanwhile.
 */
export function createPagesAhead<T>(deps: PagesAheadDeps<T>): PagesAhead<T> {
  let asked: Asked<T> | null = null;
  let guess: Asked<T> | null = null;
  // After one no more are made.
  let wrongGuess: Asked<T> | null = null;

  function askFor(offset: number): Asked<T> {
    let arrived = false;
    const onArrival = () => {
      arrived = true;
      // One page may wait for its turn, not two.
      if (offset === deps.offset()) guessNext();
    };
    return { offset, answer: deps.fetch(offset, onArrival), hasArrived: () => arrived };
  }

  function guessNext(): void {
    // What has arrived again is newer than the page behind it.
    if (guess !== null) return drop();
    const next = wrongGuess === null ? deps.likelyNext() : null;
    if (next !== null) guess = askFor(next);
  }

  function drop(): void {
    wrongGuess = guess;
    guess = null;
  }

  return {
    take() {
      const { answer } = asked ?? askFor(deps.offset());
      asked = null;
      return answer;
    },
    turn() {
      if (guess !== null && guess.offset !== deps.offset()) return drop();
      asked = guess;
      guess = null;
      if (asked?.hasArrived() === true) guessNext();
    },
    isAsked: () => asked !== null,
    ask() {
      asked ??= askFor(deps.offset());
    },
    async settled() {
      await Promise.allSettled([asked?.answer, guess?.answer, wrongGuess?.answer]);
    },
  };
}
