import { Worker, type Job } from 'bullmq';
import type { JobPlaces } from './job-places.ts';

// Milliseconds since the epoch, long past: waiting until then takes no time.
const pastMs = 1;

// The private state of BullMQ's worker: whether its last request found no job, and jobs taken, not yet
// begun.
interface MainLoop {
  readonly drained: boolean;
  readonly mainLoopQueue: { numQueued(): number } | null;
}

/**
 * A BullMQ worker that begins each job as soon as it has taken it. By default a worker takes all available
 * jobs, a round trip each, and begins the first after it has taken the last. It also asks for a job before it
 * begins one that came with the end of another. Over a slow line, or in a process with too little processor
 * time, their locks have expired by then, so the jobs are taken again and again. If jobs arrive faster than
 * one a round trip, no job is ever begun.
 */
export class PromptWorker<Data> extends Worker<Data> {
  /** Shares places with the workers of the other shards. */
  share(places: JobPlaces): void {
    places.join({
      limit: (count) => {
        const isMore = count > this.concurrency;
        this.concurrency = count;
        // The worker looks for jobs only when one of its own ends; this stands for such an end.
        const { mainLoopQueue } = this as unknown as {
          mainLoopQueue: { add(job: Promise<void>): void } | null;
        };
        if (isMore) mainLoopQueue?.add(Promise.resolve());
      },
    });
  }

  protected override async moveToActive(token: string, name?: string): Promise<Job<Data>> {
    const { drained, mainLoopQueue: taken } = this as unknown as MainLoop;
    // After a wait for a job the marker is gone: then the queue is asked in any case.
    if (!drained && taken !== null && taken.numQueued() > 0) return undefined as unknown as Job<Data>;
    const job = (await super.moveToActive(token, name)) as Job<Data> | undefined;
    // A worker that has a time to wait for takes no further job at the moment.
    if (job !== undefined) Object.assign(this, { blockUntil: pastMs });
    return job as Job<Data>;
  }
}
