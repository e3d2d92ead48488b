import { Type } from 'typebox';
import type { ApiDeps, Api } from '../deps.ts';
import * as s from '../shared/schema.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });

const queueSchema = s.record({
  name: s.string('`poll` or `drain`.', { examples: ['poll'] }),
  paused: s.boolean('No job is taken until the queue is resumed.'),
  jobs: s.described('Number of jobs by state.', {
    waiting: count('Jobs that a worker could take.'),
    active: count('Jobs that workers have taken.'),
    delayed: count('Jobs that are due later: the next one of each scheduler, and wake-ups at a time.'),
    failed: count('Jobs that were given up.'),
  }),
  schedulers: s.described('What adds jobs at an interval.', {
    count: count('Schedulers; the queue `poll` has one for each account.'),
    late: count('Schedulers whose next job should have been taken more than ten seconds ago.'),
  }),
  workers: s.nullable(
    count('Connections that wait for jobs, in all processes; null where Redis does not list them.'),
  ),
  oldestWaitingAt: s.timeOrNull(
    'Since when the job that has waited longest could have been taken; null while none waits.',
  ),
});

/** The contents of the job queues, for the operator. */
export function addQueueRoutes(app: Api, { readQueues }: Pick<ApiDeps, 'readQueues'>): void {
  app.get('/queues', { config: { operatorOnly: true }, schema: listQueues }, async () => ({
    items: (await readQueues()).map((queue) => s.show(queueSchema, queue)),
  }));
}

const listQueues = {
  operationId: 'listQueues',
  summary: 'What the job queues hold',
  description:
    'For the operator. Jobs start polls and drains; what waits for a subscriber is the lag of its subscription.',
  response: { 200: s.described('Every queue.', { items: Type.Array(queueSchema) }) },
};
