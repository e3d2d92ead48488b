import { Type } from 'typebox';
import { isoOrNull } from '../../json/iso-time.ts';
import type { QueueState } from '../../redis/jobs/queue-state.ts';
import type { ApiDeps, Api } from '../deps.ts';
import { nullable, record, timeOrNull } from '../shared/schema.ts';

const count = (description: string) => Type.Integer({ minimum: 0, description });

const queueSchema = record({
  name: Type.String({ description: '`poll` or `drain`.', examples: ['poll'] }),
  paused: Type.Boolean({ description: 'No job is taken until the queue is resumed.' }),
  jobs: record(
    {
      waiting: count('Jobs that a worker could take.'),
      active: count('Jobs that workers have taken.'),
      delayed: count('Jobs that are due later: the next one of each scheduler, and wake-ups at a time.'),
      failed: count('Jobs that were given up.'),
    },
    { description: 'Number of jobs by state.' },
  ),
  schedulers: record(
    {
      count: count('Schedulers; the queue `poll` has one for each account.'),
      late: count('Schedulers whose next job should have been taken more than ten seconds ago.'),
    },
    { description: 'What adds jobs at an interval.' },
  ),
  workers: nullable(
    count('Connections that wait for jobs, in all processes; null where Redis does not list them.'),
  ),
  oldestWaitingAt: timeOrNull(
    'Since when the job that has waited longest could have been taken; null while none waits.',
  ),
});

/** The contents of the job queues, for the operator. */
export function addQueueRoutes(app: Api, { readQueues }: Pick<ApiDeps, 'readQueues'>): void {
  app.get(
    '/queues',
    {
      config: { operatorOnly: true },
      schema: {
        operationId: 'listQueues',
        summary: 'What the job queues hold',
        description:
          'For the operator. Jobs start polls and drains; what waits for a subscriber is the lag of its subscription.',
        response: { 200: record({ items: Type.Array(queueSchema) }, { description: 'Every queue.' }) },
      },
    },
    async () => ({ items: (await readQueues()).map(queueView) }),
  );
}

function queueView({ oldestWaitingAt, jobs, schedulers, ...rest }: QueueState) {
  return {
    ...rest,
    jobs: { ...jobs },
    schedulers: { ...schedulers },
    oldestWaitingAt: isoOrNull(oldestWaitingAt ?? 0),
  };
}
