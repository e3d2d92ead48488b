// Maximum number of pages, and of their bytes, that are compared concurrently. A changed page takes two round
// trips to Redis: at half a second each, that is sixteen pages a second.
const pagesMax = 16;
const bytesMax = 2 * 1024 * 1024;

/**
 * Work on the pages of one list while later pages are read: a slow connection to Redis delays none of them.
 */
export function createPageWork() {
  const underWay = new Set<Promise<void>>();
  let bytesUnderWay = 0;
  let failure: { readonly error: unknown } | null = null;

  async function follow(bytes: number, work: Promise<unknown>): Promise<void> {
    bytesUnderWay += bytes;
    try {
      await work;
    } catch (error) {
      failure ??= { error };
    }
    bytesUnderWay -= bytes;
  }

  async function untilLeft(isEnough: () => boolean): Promise<void> {
    while (failure === null && underWay.size > 0 && !isEnough()) await Promise.race(underWay);
    if (failure !== null) throw failure.error;
  }

  return {
    /**
     * Adds the work on a page of `bytes`. Resolves when there is room for another page. Rejects with the
     * first failure of any work.
     */
    async begin(bytes: number, work: Promise<unknown>) {
      const followed = follow(bytes, work).finally(() => underWay.delete(followed));
      underWay.add(followed);
      await untilLeft(() => underWay.size < pagesMax && bytesUnderWay < bytesMax);
    },
    /** Resolves when all work has ended; rejects with the first failure of any. */
    done: () => untilLeft(() => false),
    /** Resolves when all work has ended or failed. Never rejects. */
    async settled() {
      await Promise.all(underWay);
    },
  };
}
