import { setTimeout as delay } from 'node:timers/promises';
import { expect, vi } from 'vitest';
import { createRandom } from '../../../src/sandbox/random.ts';
import type { Subscription } from '../../../src/subscriptions/subscription.ts';
import { startReceiver } from '../../support/receivers/receiver.ts';
import type { TestRedis } from '../../support/redis/test-redis.ts';
import { createHarness } from './drain-harness.ts';

/** Settings of two kinds: those that want none of the race's own events, and those that want them. */
export type RacingSettings = readonly [unasked: Partial<Subscription>, asked: Partial<Subscription>];

/** The settings that race, by their name. */
export const racingSettings: Readonly<Record<string, RacingSettings>> = {
  'the types': [{ eventTypes: ['filing.rejected'] }, { eventTypes: ['filing.pending'] }],
  'the filter': [{ filter: 'data.status == "REJECTED"' }, { filter: 'filing.filingState.stateAbbr == "TX"' }],
  'no filter': [{ filter: 'data.status == "REJECTED"' }, { filter: null }],
};

/** What has the events read that are not asked for: a wake-up for each of them, or the looks of polls. */
export const racingMovers = ['wake-ups', 'polls'] as const;

/** What a race takes place between, and for how long. */
export interface RaceOptions {
  readonly mover: (typeof racingMovers)[number];
  readonly rounds: number;
  readonly seed: number;
}

/**
 * Changes the settings of a subscription to and fro while deliverers read on, and expects that they hold from
 * the answer on, for each event recorded after it: none is missed, none is sent that is not asked for, and
 * each goes to the URL of that moment.
 */
export async function expectSettings(
  redis: TestRedis,
  [unasked, asked]: RacingSettings,
  { mover, rounds, seed }: RaceOptions,
): Promise<void> {
  await using former = await startReceiver();
  await using next = await startReceiver();
  await using harness = await createHarness(redis);
  const random = createRandom(seed);
  const id = await harness.subscribe(former.url, unasked);
  harness.startWorker();
  // As in a Redis with much to do: what was looked at before is long ago when the log is read.
  const { deliveries } = harness.stores;
  const { read, load } = deliveries;
  const reading = vi.spyOn(deliveries, 'read').mockImplementation(async (...args) => {
    const found = await read(...args);
    await delay(random() * 8);
    return found;
  });
  const loading = vi.spyOn(deliveries, 'load').mockImplementation(async (...args) => {
    await delay(random() * 8);
    const found = await load(...args);
    await delay(random() * 8);
    return found;
  });
  const isPast = async (position = 0) => (await harness.state(id)).cursor >= position;
  const untilPast = async (position?: number) =>
    vi.waitFor(async () => expect(await isPast(position)).toBe(true), { timeout: 10_000, interval: 2 });

  const { wake, wakeIfDue } = harness.waker;
  const move = () => (mover === 'wake-ups' ? wake(harness.account) : wakeIfDue(harness.account));
  // What is not asked for keeps them reading.
  let isOver = false;
  async function makeNoise(): Promise<void> {
    for (let i = 0; !isOver; i += 1) {
      await harness.append(`noise ${i % 100}`);
      await move();
    }
  }
  const noise = makeNoise();
  try {
    for (let round = 0; round < rounds; round += 1) {
      const { url } = round % 2 === 0 ? next : former;
      await delay(random() * 10);
      await harness.change(id, { ...asked, url });
      const [wanted] = await harness.append(`wanted ${round}`);
      await untilPast(wanted);
      await harness.change(id, unasked);
      const [unwanted] = await harness.append(`unwanted ${round}`);
      await untilPast(unwanted);
    }
  } finally {
    isOver = true;
    await noise;
    reading.mockRestore();
    loading.mockRestore();
  }
  const heard = [next, former].map(({ received }) =>
    received.map(({ filingId }) => filingId).filter((filing) => !filing.startsWith('noise')),
  );
  const wanted = Array.from({ length: rounds }, (_, round) => `wanted ${round}`);
  expect(heard).toEqual([0, 1].map((rest) => wanted.filter((_, round) => round % 2 === rest)));
}
