/** Requests the pages of one list, each as soon as the one before it has arrived. */
export interface Prefetch<T> {
  /**
   * Expects the page at `offset` next, and after it probably the page at `likelyNext` (null: not known). A
   * page that was requested on a prediction is dropped unless it is the expected one.
   */
  expect(offset: number, likelyNext: number | null): void;
  /** True when the expected page has been requested. */
  isRequested(): boolean;
  /** Requests the expected page unless it has been requested. */
  request(): void;
  /** The answer to the expected page, which is requested now unless it has been requested. */
  answer(): Promise<T>;
  /** Resolves when no request is under way any more. Never rejects. */
  settled(): Promise<void>;
}

export interface PrefetchDeps<T> {
  /**
   * Requests a page. `onArrival` is called when the page has arrived and before it is parsed, and once more
   * when it had to be read again. Where it rejects, so does the `answer` to that page.
   */
  readonly fetch: (offset: number, onArrival: () => void) => Promise<T>;
  /** Called with each answer that `answer` does not return. */
  readonly discard: (answer: T) => void;
  /** Nothing is requested on a prediction while a poll in between is due. */
  readonly inBetween: { isDue(): boolean };
}

interface Request<T> {
  readonly offset: number;
  readonly answer: Promise<T>;
  readonly hasArrived: () => boolean;
}

/**
 * Requests nothing until the first page is expected. While one page is parsed and compared, the service works
 * on the next one. Two requests are never under way at once: pages served out of order would hide rows that
 * move from one to the other.
 */
export function createPrefetch<T>({ fetch, discard, inBetween }: PrefetchDeps<T>): Prefetch<T> {
  let expected: { readonly offset: number; readonly likelyNext: number | null } = {
    offset: 0,
    likelyNext: null,
  };
  let requested: Request<T> | null = null;
  let predicted: Request<T> | null = null;
  // After a wrong prediction no more are made.
  let wronglyPredicted: Request<T> | null = null;

  function send(offset: number): Request<T> {
    let arrived = false;
    const onArrival = () => {
      arrived = true;
      // At most one page waits until it is expected.
      if (offset === expected.offset) predictNext();
    };
    const answer = fetch(offset, onArrival);
    // It is awaited only when the work on the page before has ended, which may be later.
    answer.catch(() => undefined);
    return { offset, answer, hasArrived: () => arrived };
  }

  function predictNext(): void {
    // A page that has arrived again is newer than the predicted page behind it.
    if (predicted !== null) return drop();
    const { likelyNext } = expected;
    if (likelyNext !== null && wronglyPredicted === null && !inBetween.isDue()) predicted = send(likelyNext);
  }

  function drop(): void {
    wronglyPredicted = predicted;
    predicted = null;
    void wronglyPredicted?.answer.then(discard, () => undefined);
  }

  return {
    expect(offset, likelyNext) {
      expected = { offset, likelyNext };
      if (predicted !== null && predicted.offset !== offset) return drop();
      requested = predicted;
      predicted = null;
      if (requested?.hasArrived() === true) predictNext();
    },
    isRequested: () => requested !== null,
    request() {
      requested ??= send(expected.offset);
    },
    answer() {
      const { answer } = requested ?? send(expected.offset);
      requested = null;
      return answer;
    },
    async settled() {
      const left = [requested, predicted];
      [requested, predicted] = [null, null];
      await Promise.allSettled([...left.map((each) => each?.answer.then(discard)), wronglyPredicted?.answer]);
    },
  };
}
