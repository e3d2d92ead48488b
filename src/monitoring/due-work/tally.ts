/** What one process does of a queue's work. */
export interface WorkTally {
  /** A job was taken and its work begins. */
  started(): void;
  /**
   * Something of the work under way has come to an end, well or badly: however long a job takes, it gets on.
   */
  gotOn(): void;
  /** The work of a job has ended, well or badly. */
  ended(): void;
  /** A job was taken and left, because somebody else is at that work. */
  skipped(): void;
  /** What has happened since it was last asked. */
  read(): OwnWork;
}

/** What a process has done of a queue's work since it was last asked, and what it is at. */
export interface OwnWork {
  /** True when work was begun, or when what is under way leaves nothing to be taken and gets on. */
  readonly moved: boolean;
  readonly skipped: number;
  readonly underWay: number;
  /** True when work is under way of which nothing has come to an end for too long. */
  readonly hangs: boolean;
}

export interface WorkTallyOptions {
  /**
   * Jobs under way from which on no others have to be taken: 1 where one that is due may find its like at
   * work, else all places.
   */
  readonly busyFrom: number;
  /** Milliseconds after which work of which nothing came to an end hangs. */
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

/** Does `work` as a job under way. */
export async function counted<T>(tally: WorkTally, work: () => Promise<T>): Promise<T> {
  tally.started();
  try {
    return await work();
  } finally {
    tally.ended();
  }
}
