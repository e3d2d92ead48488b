/**
 * Work on the pages of one list that goes on while later pages are read: a slow line to Redis holds up none
 * of them.
 */
export interface PageWork {
  /**
   * Takes in the work on a page of so many bytes, and resolves when there is room for another page. Rejects
   * with the first failure of any, as soon as it is known.
   */
  begin(bytes: number, work: Promise<unknown>): Promise<void>;
  /** Resolves when all work has ended; rejects with the first failure of any. */
  done(): Promise<void>;
  /** The same, whatever has come of it. Never rejects. */
  settled(): Promise<void>;
}

// Maximum of pages, and of bytes of pages, that are compared at once. With a round trip of half a second, two
// of which a changed page takes, that is sixteen pages a second.
const pagesMax = 16;
const bytesMax = 2 * 1024 * 1024;

/** Nothing under way yet. */
export function createPageWork(): PageWork {
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
    begin(bytes, work) {
      const followed = follow(bytes, work).finally(() => underWay.delete(followed));
      underWay.add(followed);
      return untilLeft(() => underWay.size < pagesMax && bytesUnderWay < bytesMax);
    },
    done: () => untilLeft(() => false),
    async settled() {
      await Promise.all(underWay);
    },
  };
}
