import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  partnerRow,
  startHostilePartner,
  type HostilePartner,
  type RawPage,
} from '../../support/partner/hostile-partner.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { watchAccount } from '../../support/partner/watched-account.ts';

const redis = testRedis();
const client = redis.connect();
afterAll(() => redis.cleanup());

let partner: HostilePartner;
let tests = 0;
beforeEach(async () => {
  tests += 1;
  partner = await startHostilePartner(Array.from({ length: 400 }, (_, i) => partnerRow(`f${i}`, 'PENDING')));
});
afterEach(() => partner[Symbol.asyncDispose]());

const watch = (options: Parameters<typeof watchAccount>[3] = {}) =>
  watchAccount(client, `${redis.prefix}${tests}`, partner, { retries: false, ...options });

describe('while all places for large reads are taken', () => {
  const none = { tryTakePlace: () => null };

  it('a baseline and a sweep that somebody asked for read nothing and say so', async () => {
    const watched = await watch(none);
    expect(await watched.poll()).toEqual({ kind: 'no_place' });
    await (await watch()).poll();
    const before = partner.requests.length;
    expect(await watched.poll('sweep')).toEqual({ kind: 'no_place' });
    expect(partner.requests.length).toBe(before);
  });

  it('a sweep that is due is left to its job, and the account is polled by delta', async () => {
    const begun: boolean[] = [];
    const beginSweep = async (asked: boolean) => void begun.push(asked);
    const own = { ...none, beginSweep, sweepIntervalMs: 0, pollIntervalMs: 0 };
    const { clock, poll } = await watch({ ...own });
    expect(await poll()).toEqual({ kind: 'left_to_sweep' });
    expect(partner.requests).toEqual([]);
    await (await watch({ clock })).poll('sweep');
    partner.put('f0', { status: 'COMPLETED' });
    const watched = await watch({ ...own, clock });
    expect(await watched.poll()).toMatchObject({ kind: 'complete', mode: 'delta' });
    expect((await watched.events()).map(({ type }) => type)).toEqual(['filing.completed']);
    expect(begun).toEqual([true, true]);
  });
});

describe('a sweep that a poll has begun', () => {
  it('is made also where that poll has ended before it', async () => {
    const watched = await watch({ sweepIntervalMs: 0 });
    await watched.poll('sweep');
    expect((await watched.poll('delta', { scheduled: true })).kind).toBe('complete');
    expect((await watched.poll('delta', { scheduled: true })).kind).toBe('early');
    expect(await watched.poll('sweep', { scheduled: true })).toMatchObject({
      kind: 'complete',
      mode: 'sweep',
    });
  });
});

describe('while a sweep takes longer than a poll interval', () => {
  it('the polls beside it count: marks, requests and reports', async () => {
    partner.clamp = 20;
    const watched = await watch({ pollIntervalMs: 30 });
    await watched.poll();
    const reached = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    partner.misbehave = ({ status, offset }) => {
      if (status !== null || offset !== 40) return undefined;
      reached.resolve();
      return { after: release.promise };
    };
    const begun = watched.clock.now();
    const sweep = watched.poll('sweep');
    await reached.promise;
    partner.put('f0', { status: 'COMPLETED' });
    await expect.poll(() => watched.clock.now() - begun).toBeGreaterThan(60);
    const beside = await watched.poll();
    const during = await watched.polling.read('acme');
    release.resolve();
    await sweep;
    const after = await watched.polling.read('acme');
    expect(beside).toMatchObject({ kind: 'complete', mode: 'delta', events: 1 });
    expect(during.lastCompletePollAt).toBeGreaterThan(begun + 60);
    expect(after.lastCompletePollAt).toBeGreaterThanOrEqual(during.lastCompletePollAt);
    expect(after.lastCompleteEndAt).toBeGreaterThan(after.lastCompletePollAt);
    expect(after.requestsTotal).toBe(partner.requests.length);
    // 20 pages, the rest is the poll's beside it.
    expect(after.requestsLastPoll).toBe(20);
  });
});

describe('a sweep that the service fails', () => {
  it('delays no delta: only another sweep waits', async () => {
    const begun: boolean[] = [];
    const watched = await watch({
      pollIntervalMs: 0,
      sweepIntervalMs: 60_000,
      beginSweep: async (asked) => void begun.push(asked),
    });
    await watched.poll('sweep');
    partner.misbehave = ({ status }) => (status === null ? { status: 503 } : undefined);
    const failed = await watched.poll('sweep');
    expect(failed).toMatchObject({ kind: 'failed', reason: 'unavailable', retryInMs: 6_000 });
    const marks = await watched.polling.read('acme');
    expect(marks).toMatchObject({ backoffUntil: 0, consecutiveFailures: 0 });
    expect(marks.lastError).toContain('unavailable');
    partner.misbehave = () => undefined;
    partner.put('f0', { status: 'COMPLETED' });
    expect(await watched.poll('delta', { scheduled: true })).toMatchObject({ kind: 'complete', events: 1 });
    expect(begun).toEqual([]);
  });
});

describe('a sweep in which a filing that it has shown is removed', () => {
  it('still asks for the one that it has not shown', async () => {
    partner.clamp = 20;
    partner.put('f200', { status: 'COMPLETED' });
    const watched = await watch();
    await watched.poll();
    // Otherwise the polls beside it would search for what the count lacks.
    const countless = { edit: (page: RawPage) => ({ ...page, total: undefined }) };
    const other = await watch({ clock: watched.clock });
    partner.remove('f200');
    const reached = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    partner.misbehave = ({ status, offset }) => {
      if (status !== null || offset !== 380) return countless;
      reached.resolve();
      return { ...countless, after: release.promise };
    };
    const sweep = watched.poll('sweep');
    await reached.promise;
    const [shown] = partner.order(partner.rows);
    partner.remove(String(shown?.id));
    expect(await other.pollFor()).toEqual([]);
    expect(await other.pollFor()).toMatchObject([{ type: 'filing.removed', filingId: shown?.id }]);
    release.resolve();
    expect(await sweep).toMatchObject({ kind: 'complete', mode: 'sweep' });
    expect([...(await watched.polling.missedReads('acme')).keys()]).toEqual(['f200']);
  });
});
