/** A worker as its places see it. */
export interface PlacedWorker {
  /** From now on it takes jobs only while fewer than `count` of its own are under way; at least 1. */
  limit(count: number): void;
}

/** The places of a process for jobs of one queue, shared by the workers of all shards. */
export interface JobPlaces {
  /** Adds a worker; each may take up all places that the others leave. */
  join(worker: PlacedWorker): void;
  hasPlace(): boolean;
  /** Runs the work of a job in a place. */
  occupy<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * Bounds the jobs under way at once to `max`, plus one for each worker: a worker is always allowed one, so
 * that its shard is never left out.
 */
export function createJobPlaces(max: number): JobPlaces {
  const workers: PlacedWorker[] = [];
  let occupied = 0;
  let isFull = false;

  function limitAll(): void {
    if (isFull === occupied >= max) return;
    isFull = !isFull;
    for (const worker of workers) worker.limit(isFull ? 1 : max);
  }

  function change(count: number): void {
    occupied += count;
    limitAll();
  }

  return {
    join(worker) {
      workers.push(worker);
      if (isFull) worker.limit(1);
    },
    hasPlace: () => occupied < max,
    async occupy(work) {
      change(1);
      try {
        return await work();
      } finally {
        change(-1);
      }
    },
  };
}
