/** The progress of one process with a queue's work. */
export interface WorkTally {
  /** A job was taken and its work begins. */
  started(): void;
  /** A step of a job in progress has ended, well or badly: a long job with steps does not hang. */
  gotOn(): void;
  /** The work of a job has ended, well or badly. */
  ended(): void;
  /** A job was taken and left, because another process is at that work. */
  skipped(): void;
  /** The work since the last call; begins a new count. */
  read(): OwnWork;
}

/** The work of one process in a queue since the last reading, and the jobs in progress. */
export interface OwnWork {
  /** True when work was begun, or when at least `busyFrom` jobs are in progress and do not hang. */
  readonly moved: boolean;
  readonly skipped: number;
  readonly underWay: number;
  /** True when no step of the jobs in progress has ended for too long. */
  readonly hangs: boolean;
}

export interface WorkTallyOptions {
  /**
   * Number of jobs in progress from which on no others have to be taken. It is 1 where a due job may find the
   * same work in progress, else the number of places.
   */
  readonly busyFrom: number;
  /** Milliseconds without the end of a step after which work hangs. */
  readonly quietMsMax: number;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
}

/** Counts the work of this process in one queue. */
export function createWorkTally({ busyFrom, quietMsMax, now }: WorkTallyOptions): WorkTally {
  let underWay = 0;
  let started = 0;
  let skipped = 0;
  let lastSign = now();
  return {
    started() {
      if (underWay === 0) lastSign = now();
      underWay += 1;
      started += 1;
    },
    gotOn() {
      lastSign = now();
    },
    ended() {
      underWay -= 1;
      lastSign = now();
    },
    skipped() {
      skipped += 1;
    },
    read() {
      const hangs = underWay > 0 && now() - lastSign > quietMsMax;
      const moved = started > 0 || (underWay >= busyFrom && !hangs);
      const own = { moved, skipped, underWay, hangs };
      started = 0;
      skipped = 0;
      return own;
    },
  };
}

/** Runs `work` and counts it as a job in progress. */
export async function counted<T>(tally: WorkTally, work: () => Promise<T>): Promise<T> {
  tally.started();
  try {
    return await work();
  } finally {
    tally.ended();
  }
}
