import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, expect, test, vi } from 'vitest';
import { createRandom } from '../../../src/sandbox/random.ts';
import { startReceiver } from '../../support/receivers/receiver.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { createHarness } from './drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const seed = Number(process.env['RACE_SEED'] ?? 1);
const rounds = Number(process.env['RACE_ROUNDS'] ?? 30);

/** Of another type than those that the test's own events have. */
const others = ['filing.rejected'];

test(`settings hold from the answer on, for each event recorded after it, while a drain reads on (seed ${seed})`, async () => {
  await using former = await startReceiver();
  await using next = await startReceiver();
  await using harness = await createHarness(redis);
  const random = createRandom(seed);
  const id = await harness.subscribe(former.url, { eventTypes: others });
  harness.startWorker();
  // As in a Redis with much to do: what was looked at before is long ago when the log is read.
  const { readAfter } = harness.log;
  const reading = vi.spyOn(harness.log, 'readAfter').mockImplementation(async (...args) => {
    await delay(random() * 8);
    return readAfter(...args);
  });
  const isPast = async (position = 0) => (await harness.state(id)).cursor >= position;
  const untilPast = async (position?: number) =>
    vi.waitFor(async () => expect(await isPast(position)).toBe(true), { timeout: 10_000, interval: 2 });

  // What is not asked for keeps the drain reading.
  let isOver = false;
  async function makeNoise(): Promise<void> {
    for (let i = 0; !isOver; i += 1) {
      await harness.append(`noise ${i % 100}`);
      await harness.queue.wake(harness.account, [id]);
    }
  }
  const noise = makeNoise();
  try {
    for (let round = 0; round < rounds; round += 1) {
      const { url } = round % 2 === 0 ? next : former;
      await delay(random() * 10);
      await harness.change(id, { eventTypes: ['filing.pending'], url });
      const [wanted] = await harness.append(`wanted ${round}`);
      await untilPast(wanted);
      await harness.change(id, { eventTypes: others });
      const [unwanted] = await harness.append(`unwanted ${round}`);
      await untilPast(unwanted);
    }
  } finally {
    isOver = true;
    await noise;
    reading.mockRestore();
  }
  const heard = [next, former].map(({ received }) =>
    received.map(({ filingId }) => filingId).filter((filing) => !filing.startsWith('noise')),
  );
  const wanted = Array.from({ length: rounds }, (_, round) => `wanted ${round}`);
  expect(heard).toEqual([0, 1].map((rest) => wanted.filter((_, round) => round % 2 === rest)));
}, 60_000);
