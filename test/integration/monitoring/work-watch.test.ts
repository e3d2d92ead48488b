import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { afterAll, expect, test } from 'vitest';
import { createDeliverQueue } from '../../../src/delivery/deliver-queue.ts';
import { createDeliverWorker } from '../../../src/delivery/deliver-worker.ts';
import { createMetrics } from '../../../src/monitoring/metrics.ts';
import { createPollQueue } from '../../../src/polling/schedule/poll-queue.ts';
import { createRedisConnections } from '../../../src/redis/connection/connect.ts';
import { createKeys } from '../../../src/redis/keys.ts';
import { createWorkTally } from '../../../src/monitoring/work-tally.ts';
import { createWorkWatch } from '../../../src/monitoring/work-watch.ts';
import { storedQueue } from '../../support/redis/stored-queues.ts';
import { testRedis } from '../../support/redis/test-redis.ts';

const redis = testRedis();
const client = redis.connect();
afterAll(() => redis.cleanup());
let rigs = 0;

const everyMs = 15_000;
const minute = 60_000;

/**
 * The queues of a deployment and a watch of them, whose monotonic clock goes on by two seconds with each
 * look.
 */
function rig() {
  rigs += 1;
  const keys = createKeys(`${redis.prefix}${rigs}`);
  const connections = createRedisConnections(redis.url, { connectionName: 'test', onStateChange: () => {} });
  const fail = (error: Error) => {
    throw error;
  };
  const polls = createPollQueue(connections.failFast(), keys.queues, fail);
  const deliveries = createDeliverQueue(connections.failFast(), keys.queues, fail);

  function process() {
    let time = 0;
    const lines: Record<string, unknown>[] = [];
    const logger = pino({}, { write: (line) => void lines.push(JSON.parse(line)) });
    const metrics = createMetrics();
    const now = () => time;
    const tally = {
      poll: createWorkTally({ busyFrom: 1, requestMs: 0, now }),
      deliver: createWorkTally({ busyFrom: 10, requestMs: 0, now }),
    };
    const queues = [
      {
        name: 'poll',
        tally: tally.poll,
        key: (part: string) => polls.jobs.toKey(part),
      },
      {
        name: 'deliver',
        tally: tally.deliver,
        key: (part: string) => deliveries.jobs.toKey(part),
      },
    ] as const;
    const watch = createWorkWatch({
      redis: client,
      takenKey: keys.taken,
      queues,
      storeProblem: () => null,
      isConnected: () => true,
      logger,
      metrics,
      now,
      wallClock: Date.now,
    });
    async function pass(durationMs: number) {
      for (const end = time + durationMs; time < end; time += 2_000) await watch.look();
    }
    const waiting = async () => {
      const { values } = await metrics.waitingSeconds.get();
      return Object.fromEntries(values.map(({ labels, value }) => [labels.queue, value]));
    };
    return { ...watch, tally, lines, pass, waiting, logged: () => lines.map(({ msg }) => msg) };
  }

  return {
    keys,
    connections,
    polls,
    deliveries,
    process,
    onError: fail,
    async [Symbol.asyncDispose]() {
      await Promise.all([polls.close(), deliveries.close()]);
      await connections.close();
    },
  };
}

test('polls that nobody takes are told after two intervals and half a minute, and minutes later a restart', async () => {
  await using deployment = rig();
  const { polls } = deployment;
  const process = deployment.process();
  await polls.schedule('acme', everyMs);
  process.expect('poll', everyMs);
  await process.pass(40_000);
  expect(process.problems()).toEqual([]);
  await process.pass(8_000);
  const waits = [expect.stringMatching(/^Due polls wait, for 4\d s now/)];
  expect(process.problems()).toEqual(waits);
  const look = process.look();
  expect(process.problems()).toEqual(waits);
  await look;
  expect(process.liveness().live).toBe(true);
  await process.pass(6 * minute);
  expect(process.liveness()).toEqual({ live: false, reasons: [expect.stringMatching(/^Due polls wait/)] });
  expect(process.logged()).toEqual(['queue.waiting']);
  expect(process.lines[0]).toMatchObject({ queue: 'poll', cause: 'worker', waiting: 1, underWay: 0 });
  expect(await process.waiting()).toMatchObject({ poll: expect.closeTo(406, -1), deliver: 0 });
});

test('repairs of the schedule that go on and on do not hide that nobody polls', async () => {
  await using deployment = rig();
  const { polls } = deployment;
  const process = deployment.process();
  await polls.schedule('acme', everyMs);
  await polls.jobs.drain();
  process.expect('poll', everyMs);
  for (let repairs = 0; repairs < 20; repairs += 1) {
    await polls.schedule('acme', everyMs);
    await process.pass(4_000);
  }
  expect(process.problems()).toEqual([expect.stringMatching(/^Due polls wait/)]);
});

test('a poll that any process takes is enough, and the log says that it goes on', async () => {
  await using deployment = rig();
  const [idle, busy] = [deployment.process(), deployment.process()];
  idle.expect('poll', everyMs);
  await idle.pass(2 * minute);
  expect(idle.problems()).toHaveLength(1);
  const job = Promise.withResolvers<void>();
  void busy.tally.poll.counted(() => job.promise);
  await busy.look();
  await idle.pass(2_000);
  expect(idle.problems()).toEqual([]);
  expect(idle.logged()).toEqual(['queue.waiting', 'queue.resumed']);
  // A long poll goes on, and its account's next ones are skipped meanwhile.
  for (let looks = 0; looks < 100; looks += 1) {
    busy.tally.poll.gotOn();
    busy.tally.poll.skipped();
    await busy.pass(2_000);
    await idle.pass(2_000);
  }
  expect([idle.problems(), busy.problems()]).toEqual([[], []]);
});

test('polls that are taken and find their accounts leased for ever are told as that, and a restart is not asked for', async () => {
  await using deployment = rig();
  const process = deployment.process();
  process.expect('poll', everyMs);
  for (let looks = 0; looks < 300; looks += 1) {
    process.tally.poll.skipped();
    await process.pass(2_000);
  }
  expect(process.problems()).toEqual([expect.stringContaining('leased to polls in other processes')]);
  expect(process.liveness().live).toBe(true);
});

test.each([
  ['wait for a worker', async ({ deliveries }: ReturnType<typeof rig>) => deliveries.wake('acme')],
  [
    'were to be woken',
    async ({ deliveries }: ReturnType<typeof rig>) => {
      await deliveries.wakeAt('acme', 1, 0);
      // They are due on the wall clock, which the looks do not wait for.
      await sleep(20);
    },
  ],
  [
    'were given to a worker that never heard of it',
    async ({ deliveries }: ReturnType<typeof rig>) => {
      await deliveries.wake('acme');
      await storedQueue(client, deliveries.jobs).giveToNobody();
    },
  ],
])('deliveries that %s are told after a minute, and not once they were taken', async (_, prepare) => {
  await using deployment = rig();
  const { deliveries, keys, connections, onError } = deployment;
  const process = deployment.process();
  await process.pass(10 * minute);
  expect(process.problems()).toEqual([]);
  await prepare(deployment);
  await process.pass(56_000);
  expect(process.problems()).toEqual([]);
  await process.pass(10_000);
  expect(process.problems()).toEqual([expect.stringMatching(/^Due deliveries wait, for 6\d s now/)]);
  const worker = createDeliverWorker({
    connection: connections.blocking(),
    prefix: keys.queues,
    queue: deliveries,
    concurrency: 10,
    async run() {
      return process.tally.deliver.counted(async () => ({ wakeAt: null }));
    },
    now: Date.now,
    onError,
  });
  await expect
    .poll(
      async () => {
        await process.look();
        return [process.problems(), process.logged()];
      },
      { timeout: 15_000 },
    )
    .toEqual([[], ['queue.waiting', 'queue.resumed']]);
  await worker.close();
});

test('a queue of deliveries whose every place waits for hanging endpoints gets on', async () => {
  await using deployment = rig();
  const process = deployment.process();
  await deployment.deliveries.wake('acme');
  const job = Promise.withResolvers<{ wakeAt: null }>();
  for (let place = 0; place < 10; place += 1) void process.tally.deliver.counted(() => job.promise);
  for (let looks = 0; looks < 60; looks += 1) {
    process.tally.deliver.gotOn();
    await process.pass(2_000);
  }
  expect(process.problems()).toEqual([]);
  await process.pass(10 * minute);
  expect(process.problems()).toEqual([expect.stringContaining('do not get on')]);
  expect(process.liveness().live).toBe(false);
});
