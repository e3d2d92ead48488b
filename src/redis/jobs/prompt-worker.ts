import { Worker, type Job } from 'bullmq';

// Milliseconds since the epoch, long past: waiting until then takes no time.
const pastMs = 1;

/**
 * A BullMQ worker that begins each job as soon as it has taken it. By default a worker takes all available
 * jobs, a round trip each, and begins the first after it has taken the last. Over a slow line their locks
 * have expired by then, so the jobs are taken again and again. If jobs arrive faster than one a round trip,
 * no job is ever begun.
 */
export class PromptWorker<Data> extends Worker<Data> {
  protected override async moveToActive(token: string, name?: string): Promise<Job<Data>> {
    const job = (await super.moveToActive(token, name)) as Job<Data> | undefined;
    // A worker that has a time to wait for takes no further job at the moment.
    if (job !== undefined) Object.assign(this, { blockUntil: pastMs });
    return job as Job<Data>;
  }
}
