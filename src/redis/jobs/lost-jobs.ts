/** The part of a BullMQ queue that is needed here. */
export interface DeduplicatingQueue {
  getDeduplicationJobId(id: string): Promise<string | null>;
  getJobState(jobId: string): Promise<string>;
  readonly backend: {
    /** Removes the id only while it is this job's. */
    removeDeduplicationKey(id: string, jobId: string): Promise<number>;
  };
}

const idsAtOnce = 50;

/**
 * Frees deduplication ids of jobs that stand in no list of their queue. Such a job never runs, and keeps
 * every other job with its id from being added. Half a transaction that Redis has carried out leaves such
 * jobs. Returns the number of freed ids. The id of a job that ends meanwhile stays with the job that follows
 * it: two drains of a subscription at once would send again what the first has in flight.
 */
export async function releaseLostJobs(queue: DeduplicatingQueue, ids: readonly string[]): Promise<number> {
  async function release(id: string): Promise<number> {
    const job = await queue.getDeduplicationJobId(id);
    if (job === null || (await queue.getJobState(job)) !== 'unknown') return 0;
    return queue.backend.removeDeduplicationKey(id, job);
  }

  let released = 0;
  for (let from = 0; from < ids.length; from += idsAtOnce) {
    // Redis serves other clients in between.
    const some = await Promise.all(ids.slice(from, from + idsAtOnce).map(release));
    released += some.reduce((sum, count) => sum + count, 0);
  }
  return released;
}
