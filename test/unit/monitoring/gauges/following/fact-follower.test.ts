import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { AccountFacts } from '../../../../../src/monitoring/gauges/account-facts.ts';
import type { MarkKind } from '../../../../../src/monitoring/gauges/account-marks.ts';
import {
  createFactFollower,
  type FactFollower,
} from '../../../../../src/monitoring/gauges/following/fact-follower.ts';
import { noMarks } from '../../../../../src/polling/store/marks.ts';

// A store in memory: accounts with the time of their creation, and what was read of it.
const accounts = new Map<string, number>();
const marks: Record<MarkKind, string[]> = { changed: [], polled: [] };
const read: string[] = [];
let failsAt: string | null = null;
let subscriptions = 0;
let readMs = 0;
let follower: FactFollower;

function follow(times: { lookMs: number; roundMs: number; firstMs?: number }): FactFollower {
  follower = createFactFollower(
    {
      reads: {
        facts: async (account) => {
          if (account === failsAt) throw new Error('Redis is away');
          if (readMs > 0) await sleep(readMs);
          read.push(account);
          const createdAt = accounts.get(account);
          return createdAt === undefined ? null : factsOf(account, createdAt);
        },
        factsOf: async () => null,
        afterPoll: async (former) => {
          read.push(`marks of ${former.account}`);
          return { ...former, marks: { ...noMarks, lastCompletePollAt: 7 } };
        },
      },
      marks: {
        newest: async (kind) => marks[kind].length,
        after: async (kind, place) =>
          marks[kind].slice(place).map((account, i) => [account, place + i + 1] as const),
      },
      names: async (cursor) => {
        const names = [...accounts.keys()].slice(Number(cursor), Number(cursor) + 3);
        const next = Number(cursor) + 3;
        return [next < accounts.size ? String(next) : '0', names];
      },
      now: () => performance.now(),
    },
    { firstMs: 60_000, ...times, leftMs: 60_000 },
  );
  return follower;
}

function factsOf(account: string, createdAt: number): AccountFacts {
  const byState = { active: subscriptions, failing: 0, unverified: 0, disabled: 0 };
  const own = { byState, lags: new Map(), otherLags: [], waiting: 0, failing: new Map(), throttledUntil: [] };
  const none = { counts: {}, oldest: new Map(), certificateEnd: null };
  return { account, pollIntervalMs: 1, createdAt, marks: noMarks, ...none, subscriptions: own };
}

beforeEach(() => {
  accounts.clear();
  for (let i = 0; i < 8; i += 1) accounts.set(`a${i}`, i);
  marks.changed = [];
  marks.polled = [];
  read.length = 0;
  failsAt = null;
  subscriptions = 0;
  readMs = 0;
});
afterEach(() => follower.stop());

const never = 3_600_000;
const factOf = async (account: string) =>
  (await follower.follow())?.find((facts) => facts.account === account);
const created = async (account: string) => (await factOf(account))?.createdAt;

test('the first call reads every account once', async () => {
  marks.changed.push('a1');
  const facts = await follow({ lookMs: 1, roundMs: never }).follow();
  expect(facts?.map(({ account }) => account).toSorted()).toEqual([...accounts.keys()]);
  expect(read.toSorted()).toEqual([...accounts.keys()]);
  expect(follower.waitingMs()).toBe(0);
});

test('marks wait for the first round, however fast they come', async () => {
  readMs = 5;
  // More than one step of the follower reads.
  for (let i = 8; i < 150; i += 1) accounts.set(`a${i}`, i);
  const polled = setInterval(() => marks.polled.push('a1', 'a2', 'a3'), 1);
  const changed = setInterval(() => marks.changed.push('a0'), 1);
  try {
    await follow({ lookMs: 1, roundMs: never }).follow();
  } finally {
    clearInterval(polled);
    clearInterval(changed);
  }
  expect(read.slice(0, accounts.size).toSorted()).toEqual([...accounts.keys()].toSorted());
});

test('who asks waits for the first round for a bounded time, and sees how long it lasts', async () => {
  readMs = 100;
  follow({ lookMs: 1, roundMs: never, firstMs: 10 });
  expect(await follower.follow()).toBeNull();
  expect(follower.waitingMs()).toBeGreaterThan(0);
  await expect.poll(async () => (await follower.follow())?.length).toBe(accounts.size);
  expect(follower.waitingMs()).toBe(0);
});

test('what is marked is read again, and nothing else', async () => {
  await follow({ lookMs: 1, roundMs: never }).follow();
  read.length = 0;
  accounts.set('a2', 22);
  accounts.set('new', 23);
  accounts.delete('a3');
  marks.changed.push('a2', 'a3', 'new');
  marks.polled.push('a4');
  await expect.poll(() => created('a2')).toBe(22);
  await expect.poll(() => created('new')).toBe(23);
  await expect.poll(() => created('a3')).toBeUndefined();
  await expect.poll(async () => (await factOf('a4'))?.marks.lastCompletePollAt).toBe(7);
  expect(read.toSorted()).toEqual(['a2', 'a3', 'marks of a4', 'new']);
});

test('a change or a removal whose mark was lost is found in the next round', async () => {
  await follow({ lookMs: 1, roundMs: 20 }).follow();
  accounts.set('a2', 22);
  accounts.set('unmarked', 24);
  accounts.delete('a5');
  await expect.poll(() => created('a2')).toBe(22);
  await expect.poll(() => created('unmarked')).toBe(24);
  await expect.poll(() => created('a5')).toBeUndefined();
});

test('an account with many subscriptions rests after it was read, and shows what waits', async () => {
  subscriptions = 10_000_000;
  await follow({ lookMs: 1, roundMs: never }).follow();
  read.length = 0;
  marks.changed.push('a1');
  await expect.poll(() => follower.waitingMs()).toBeGreaterThan(0);
  expect(read).toEqual([]);
});

test('a failure is told to those who ask, nothing is dropped for it, and the work goes on after it', async () => {
  await follow({ lookMs: 1, roundMs: 20 }).follow();
  failsAt = 'a6';
  await expect.poll(() => follower.follow().then(() => 'fine', String)).toBe('Error: Redis is away');
  failsAt = null;
  accounts.set('a6', 66);
  await vi.waitFor(async () => expect(await created('a6')).toBe(66));
  expect((await follower.follow())?.length).toBe(accounts.size);
});
