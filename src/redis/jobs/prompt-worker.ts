import { Worker, type Job } from 'bullmq';

// Milliseconds since the epoch, long past: waiting until then takes no time.
const pastMs = 1;

/**
 * A BullMQ worker that begins each job as soon as it has it. Left to itself it takes as many as there are, a
 * round trip each, and begins the first of them after the last: over a slow line their locks have lapsed by
 * then, so they are taken up again, and again, and where jobs come faster than one a round trip none is ever
 * begun.
 */
export class PromptWorker<Data> extends Worker<Data> {
  protected override async moveToActive(token: string, name?: string): Promise<Job<Data>> {
    const job = (await super.moveToActive(token, name)) as Job<Data> | undefined;
    // It takes no more for the moment when it knows of a time to wait for.
    if (job !== undefined) Object.assign(this, { blockUntil: pastMs });
    return job as Job<Data>;
  }
}
