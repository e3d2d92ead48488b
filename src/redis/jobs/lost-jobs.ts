/** The part of a BullMQ queue that is needed here. */
export interface DeduplicatingQueue {
  getDeduplicationJobId(id: string): Promise<string | null>;
  getJobState(jobId: string): Promise<string>;
  removeDeduplicationKey(id: string): Promise<number>;
}

const idsAtOnce = 50;

/**
 * Frees deduplication ids of jobs that stand in no list of their queue. Such a job never runs, and keeps
 * every other job with its id from being added. Half a transaction that Redis has carried out leaves such
 * jobs. Returns the number of freed ids; a job that ends meanwhile may be followed by two jobs instead of
 * one.
 */
export async function releaseLostJobs(queue: DeduplicatingQueue, ids: readonly string[]): Promise<number> {
  async function release(id: string): Promise<number> {
    const job = await queue.getDeduplicationJobId(id);
    if (job === null || (await queue.getJobState(job)) !== 'unknown') return 0;
    return queue.removeDeduplicationKey(id);
  }

  let released = 0;
  for (let from = 0; from < ids.length; from += idsAtOnce) {
    // Redis serves other clients in between.
    const some = await Promise.all(ids.slice(from, from + idsAtOnce).map(release));
    released += some.reduce((sum, count) => sum + count, 0);
  }
  return released;
}
