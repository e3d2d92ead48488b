export interface WorkTallyOptions {
  /**
   * Number of jobs in progress at which the process need not take more. It is 1 if a due job may find the
   * same work in progress, else the concurrency.
   */
  readonly busyFrom: number;
  /** Deadline of one request, in milliseconds. */
  readonly requestMs: number;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
}

// Milliseconds, in addition to the deadline of one request, in which some of the work in progress has to end.
// A poll waits for up to a minute when the partner service asks it to.
const quietMs = 120_000;

/** The progress of one process with a queue's work. */
export type WorkTally = ReturnType<typeof createWorkTally>;

/** The work of one process in a queue since the last reading, and the jobs in progress. */
export type OwnWork = ReturnType<WorkTally['read']>;

/** Counts the work of this process in one queue. */
export function createWorkTally({ busyFrom, requestMs, now }: WorkTallyOptions) {
  let underWay = 0;
  let started = 0;
  let skipped = 0;
  let lastSign = now();
  return {
    /** Runs `work` and counts it as a job in progress. */
    async counted<T>(work: () => Promise<T>): Promise<T> {
      if (underWay === 0) lastSign = now();
      underWay += 1;
      started += 1;
      try {
        return await work();
      } finally {
        underWay -= 1;
        lastSign = now();
      }
    },
    /** A step of a job in progress has ended, well or badly: a long job with steps does not hang. */
    gotOn(): void {
      lastSign = now();
    },
    /** A job was taken and left, because another process is at that work. */
    skipped(): void {
      skipped += 1;
    },
    /**
     * The work since the last call, and a new count. `moved` is true when work was begun, or when at least
     * `busyFrom` jobs are in progress and do not hang; `hangs` when no step of them has ended for too long.
     */
    read() {
      const hangs = underWay > 0 && now() - lastSign > requestMs + quietMs;
      const moved = started > 0 || (underWay >= busyFrom && !hangs);
      const own = { moved, skipped, underWay, hangs };
      started = 0;
      skipped = 0;
      return own;
    },
  };
}
