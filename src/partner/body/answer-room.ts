/** Room in memory for large answers, shared by all accounts of a process. */
export interface AnswerRoom {
  /**
   * Resolves when there is room for an answer of `bytes` of an account, with the function that gives it back;
   * only its first call counts. Accounts get room in turns, so one with many large answers waits for itself.
   * Rejects with the reason of the signal when that aborts first.
   */
  take(account: string, bytes: number, signal: AbortSignal): Promise<() => void>;
}

interface Waiting {
  readonly bytes: number;
  readonly grant: () => void;
}

/** Room for `bytesMax` bytes, and for one answer of any size where there is none. */
export function createAnswerRoom(bytesMax: number): AnswerRoom {
  // Requests that wait, by account; the account whose turn it is stands first.
  const queues = new Map<string, Waiting[]>();
  let taken = 0;

  function hand(): void {
    for (const [account, queue] of queues) {
      const [first] = queue;
      if (first === undefined) queues.delete(account);
      else if (taken > 0 && taken + first.bytes > bytesMax) return;
      else {
        queue.shift();
        queues.delete(account);
        if (queue.length > 0) queues.set(account, queue);
        first.grant();
      }
    }
  }

  function giverBack(bytes: number): () => void {
    taken += bytes;
    let isTaken = true;
    return () => {
      if (!isTaken) return;
      isTaken = false;
      taken -= bytes;
      hand();
    };
  }

  return {
    async take(account, bytes, signal) {
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<() => void>();
      const waiting = { bytes, grant: () => resolve(giverBack(bytes)) };
      const queue = queues.get(account) ?? [];
      queue.push(waiting);
      queues.set(account, queue);
      const leave = () => {
        const at = queue.indexOf(waiting);
        if (at >= 0) queue.splice(at, 1);
        reject(signal.reason as Error);
        hand();
      };
      signal.addEventListener('abort', leave, { once: true });
      hand();
      try {
        return await promise;
      } finally {
        signal.removeEventListener('abort', leave);
      }
    },
  };
}

/** The room for large answers of all accounts of a process. */
export interface AnswerRooms {
  /** Pages keep theirs until their filings are compared, which may take single filings. */
  readonly pages: AnswerRoom;
  /** Other answers keep theirs only until they are parsed, so pages may wait for them. */
  readonly others: AnswerRoom;
}

// Maximum bytes of large pages, and of other large answers, that a process holds.
const mebibyte = 1024 * 1024;
const roomBytes = { pages: 64 * mebibyte, others: 32 * mebibyte };

/** Room for the large answers of one process. */
export function createAnswerRooms(): AnswerRooms {
  return { pages: createAnswerRoom(roomBytes.pages), others: createAnswerRoom(roomBytes.others) };
}
