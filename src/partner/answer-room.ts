import PQueue from 'p-queue';

/** Room in memory for large answers, shared by all accounts of a process. */
export type AnswerRoom = ReturnType<typeof createAnswerRoom>;

/** Room for up to `places` large answers, handed out in the order of the requests for it. */
export function createAnswerRoom(places: number) {
  const queue = new PQueue({ concurrency: places });
  return {
    /**
     * Resolves when there is a place for a large answer, with the function that gives it back. Rejects when
     * the signal aborts first.
     */
    async take(signal: AbortSignal): Promise<() => void> {
      const { promise: givenBack, resolve: giveBack } = Promise.withResolvers<void>();
      const { promise: taken, resolve, reject } = Promise.withResolvers<void>();
      const abort = () => {
        reject(signal.reason as Error);
        giveBack();
      };
      if (signal.aborted) abort();
      signal.addEventListener('abort', abort);
      void queue.add(() => {
        resolve();
        return givenBack;
      });
      try {
        await taken;
        return giveBack;
      } finally {
        signal.removeEventListener('abort', abort);
      }
    },
  };
}

/** The room for large answers of all accounts of a process. */
export type AnswerRooms = ReturnType<typeof createAnswerRooms>;

/** Room for the large answers of one process, 64 MiB of pages and 32 of others. */
export function createAnswerRooms() {
  return {
    /** Pages keep theirs until their filings are compared, which may take single filings. */
    pages: createAnswerRoom(32),
    /** Other answers keep theirs only until they are parsed, so pages may wait for them. */
    others: createAnswerRoom(16),
  };
}
