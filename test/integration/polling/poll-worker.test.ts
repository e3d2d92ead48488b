import { afterAll, expect, it } from 'vitest';
import { createPollQueue, type PollJob } from '../../../src/polling/schedule/poll-queue.ts';
import { createPollWorker, type PollEnd } from '../../../src/polling/schedule/poll-worker.ts';
import { createPollingStore } from '../../../src/polling/store/polling-store.ts';
import { createRedisConnections } from '../../../src/redis/connection/connect.ts';
import { createKeys } from '../../../src/redis/keys.ts';
import { storedAccount } from '../../support/redis/stored-account.ts';
import { storedSchedules } from '../../support/redis/stored-queues.ts';
import { testRedis } from '../../support/redis/test-redis.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());
let rigs = 0;

/** A queue and its worker, whose polls come to what `poll` says. */
async function rig(
  poll: (job: PollJob, signal: AbortSignal) => Promise<boolean | PollEnd>,
  onPollError?: (error: Error) => void,
) {
  rigs += 1;
  const keys = createKeys(`${redis.prefix}${rigs}`);
  const connections = createRedisConnections(redis.url, { connectionName: 'test', onStateChange: () => {} });
  const fail = (error: Error) => {
    throw error;
  };
  const queue = createPollQueue(connections.failFast(), keys.queues, fail);
  const polling = createPollingStore(connections.command(), keys);
  let skipped = 0;
  const worker = createPollWorker({
    connection: connections.blocking(),
    prefix: keys.queues,
    polling,
    holder: 'test',
    concurrency: 10,
    async poll(job, signal, lease) {
      if ((await polling.open(job.account, '', lease)) === null) return 'leased';
      const end = await poll(job, signal);
      return typeof end === 'string' ? end : end ? 'polled' : 'no_place';
    },
    onSkipped: () => void (skipped += 1),
    onError: onPollError ?? fail,
  });
  return {
    keys,
    queue,
    polling,
    skipped: () => skipped,
    async [Symbol.asyncDispose]() {
      await worker.close();
      await queue.close();
      await connections.close();
    },
  };
}

it('keeps a sweep that somebody asked for until there is a place for it', async () => {
  const polls: string[] = [];
  await using poller = await rig(async ({ account, mode }) => polls.push(`${account} ${mode}`) >= 3);
  await poller.queue.pollNow('acme', 'sweep');
  await expect.poll(() => polls, { timeout: 5_000 }).toEqual(Array(3).fill('acme sweep'));
});

it('keeps what somebody asked for until the poll under way has ended', async () => {
  const polls: string[] = [];
  await using poller = await rig(async ({ mode }) => polls.push(mode) > 0);
  for (const mode of ['delta', 'sweep'] as const) {
    await poller.polling.lease('acme', mode, 'somebody else', 5_000);
    await poller.queue.pollNow('acme', mode);
  }
  await poller.queue.pollNow('other', 'delta');
  await expect.poll(() => polls).toEqual(['delta']);
  await expect.poll(poller.skipped).toBeGreaterThan(1);
  await poller.polling.release('acme', 'sweep', 'somebody else');
  await expect.poll(() => polls, { timeout: 5_000 }).toEqual(['delta', 'sweep']);
  await poller.polling.release('acme', 'delta', 'somebody else');
  await expect.poll(() => polls, { timeout: 5_000 }).toEqual(['delta', 'sweep', 'delta']);
});

it('polls on while a sweep of the account is under way, of which there is one', async () => {
  const polls: string[] = [];
  const sweep = Promise.withResolvers<boolean>();
  await using poller = await rig(({ mode }) => {
    polls.push(mode);
    return mode === 'sweep' ? sweep.promise : Promise.resolve(true);
  });
  await poller.queue.beginSweep('acme');
  await expect.poll(() => polls).toEqual(['sweep']);
  await poller.queue.beginSweep('acme');
  for (const polled of [
    ['sweep', 'delta'],
    ['sweep', 'delta', 'delta'],
  ]) {
    await poller.queue.pollNow('acme', 'delta');
    await expect.poll(() => polls).toEqual(polled);
  }
  sweep.resolve(true);
  await expect
    .poll(async () => {
      await poller.queue.beginSweep('acme');
      return polls.filter((mode) => mode === 'sweep').length;
    })
    .toBe(2);
});

it("takes the lease of a holder that was gone before Redis's clock was set back by a day", async () => {
  const polls: string[] = [];
  await using poller = await rig(async ({ account }) => polls.push(account) > 0);
  await poller.polling.lease('acme', 'delta', 'somebody else', 5_000);
  await storedAccount(redis.connect(), poller.keys.account('acme')).holdFor(86_400_000);
  await poller.queue.schedule('acme', 60_000);
  await expect.poll(() => polls).toEqual(['acme']);
  await poller.queue.unschedule('acme');
});

it('skips a tick that finds no place, and comes again with the next', async () => {
  const polls: PollJob[] = [];
  await using poller = await rig(async (job) => polls.push(job) < 0);
  await poller.queue.schedule('acme', 50);
  await expect.poll(() => polls.length, { timeout: 5_000 }).toBeGreaterThan(2);
  expect(polls.every(({ asked }) => !asked)).toBe(true);
  await poller.queue.unschedule('acme');
});

it('polls an account again whose job was lost, and leaves the others alone', async () => {
  const polls: string[] = [];
  await using poller = await rig(async ({ account }) => polls.push(account) > 0);
  const accounts = ['acme', 'other'].map((account) => ({ account, pollIntervalMs: 50 }));
  for (const { account, pollIntervalMs } of accounts) await poller.queue.schedule(account, pollIntervalMs);
  await expect.poll(() => new Set(polls).size).toBe(2);
  // As an operation on the queue leaves it of which Redis has lost a part.
  const schedules = storedSchedules(redis.connect(), poller.keys);
  await expect.poll(() => schedules.lose('acme')).toBe(1);
  const count = (name: string) => polls.filter((account) => account === name).length;
  const untilOtherGoesOn = async () => {
    const enough = count('other') + 5;
    await expect.poll(() => count('other')).toBeGreaterThan(enough);
  };
  await untilOtherGoesOn();
  const before = count('acme');
  await untilOtherGoesOn();
  expect(count('acme')).toBe(before);
  expect(await poller.queue.suspects(accounts)).toEqual([accounts[0]]);
  await poller.queue.reschedule({ account: 'acme', pollIntervalMs: 50 });
  await expect.poll(() => count('acme')).toBeGreaterThan(before + 2);
  const unscheduled = { account: 'unscheduled', pollIntervalMs: 60_000 };
  expect(await poller.queue.suspects([...accounts, unscheduled])).toEqual([unscheduled]);
  await poller.queue.reschedule(unscheduled);
  await expect.poll(() => polls).toContain('unscheduled');
});

it('takes another interval, whether the account is being polled or waits', async () => {
  const [polls, goOn] = [[] as string[], Promise.withResolvers<boolean>()];
  await using poller = await rig(async ({ account }) => (polls.push(account) > 1 ? true : goOn.promise));
  const hourly = { account: 'acme', pollIntervalMs: 3_600_000 };
  await poller.queue.schedule('acme', 3_600_000);
  await expect.poll(() => polls).toEqual(['acme']);
  expect(await poller.queue.outdated([hourly])).toEqual([]);
  expect(await poller.queue.outdated([{ ...hourly, pollIntervalMs: 60_000 }])).toHaveLength(1);
  goOn.resolve(true);
  const schedules = storedSchedules(redis.connect(), poller.keys);
  await expect.poll(() => schedules.due('acme')).not.toBeNull();
  await poller.queue.schedule('acme', 50);
  await expect.poll(() => polls.length).toBeGreaterThan(3);
});

it('schedules an account whose job another process removes in the same moment', async () => {
  await using poller = await rig(async () => true);
  await Promise.all([poller.queue.schedule('acme', 60_000), poller.queue.unschedule('acme')]);
  expect(await poller.queue.isScheduled('acme')).toBe(true);
});

it('ends the schedule of an account that is gone with its next poll', async () => {
  const polls: string[] = [];
  await using poller = await rig(async ({ account }) => (polls.push(account) < 3 ? 'polled' : 'gone'));
  await poller.queue.schedule('acme', 50);
  await expect.poll(() => poller.queue.isScheduled('acme')).toBe(false);
  expect(polls).toEqual(['acme', 'acme', 'acme']);
});

it('polls an account again whose next poll lies further ahead than its interval, for a clock was', async () => {
  const polls: string[] = [];
  await using poller = await rig(async ({ account }) => polls.push(account) > 0);
  const acme = { account: 'acme', pollIntervalMs: 300 };
  await poller.queue.schedule('acme', 300);
  await expect.poll(() => polls.length).toBeGreaterThan(1);
  // As a process leaves it whose clock is then set back by 90 seconds.
  const schedules = storedSchedules(redis.connect(), poller.keys);
  await expect.poll(() => schedules.delayNext('acme', 90_000)).toBe(true);
  expect(await poller.queue.suspects([acme])).toEqual([acme]);
  await poller.queue.reschedule(acme);
  const before = polls.length;
  await expect.poll(() => polls.length).toBeGreaterThan(before + 2);
  expect(await poller.queue.suspects([acme])).toEqual([]);
});

it('keeps no stack trace of a poll that failed, neither of one that was asked for nor of those of a schedule', async () => {
  let polls = 0;
  const errors: Error[] = [];
  await using poller = await rig(
    () => {
      polls += 1;
      return Promise.reject(new Error('fails'));
    },
    (error) => void errors.push(error),
  );
  const { jobs: queue } = poller.queue;
  await poller.queue.schedule('scheduled', 100);
  await expect.poll(() => polls, { timeout: 5_000 }).toBeGreaterThan(3);
  await expect
    .poll(async () => (await queue.getJobs(['delayed'])).map(({ opts }) => opts.stackTraceLimit))
    .toEqual([0]);
  await poller.queue.unschedule('scheduled');
  await poller.queue.pollNow('asked', 'delta');
  await expect
    .poll(async () =>
      (await queue.getJobs(['delayed'])).map(({ attemptsMade, stacktrace }) => [
        attemptsMade > 0,
        stacktrace,
      ]),
    )
    .toEqual([[true, []]]);
  expect(errors.length).toBeGreaterThan(0);
});
