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

  it('an account whose sweep is due is polled by delta', async () => {
    const { poll, clock } = await watch();
    await poll();
    const watched = await watch({ ...none, clock, sweepIntervalMs: 0, pollIntervalMs: 0 });
    partner.put('f0', { status: 'COMPLETED' });
    expect(await watched.poll()).toMatchObject({ kind: 'complete', mode: 'delta' });
    expect((await watched.events()).map(({ type }) => type)).toEqual(['filing.completed']);
    const free = await watch({ sweepIntervalMs: 0, pollIntervalMs: 0 });
    expect(await free.poll()).toMatchObject({ kind: 'complete', mode: 'sweep' });
  });
});

describe('while a sweep takes longer than a poll interval', () => {
  it('the polls in between count: marks, requests and reports', async () => {
    partner.clamp = 20;
    const watched = await watch({ pollIntervalMs: 30 });
    await watched.poll();
    const reached = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    // The sweep's third page comes after several intervals.
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
    const before = watched.inBetween.length;
    const asked = partner.requests.length;
    release.resolve();
    await expect.poll(() => watched.inBetween.length).toBeGreaterThan(before);
    const during = await watched.polling.read('acme');
    await sweep;
    const after = await watched.polling.read('acme');
    expect(watched.inBetween[before]).toMatchObject({ kind: 'complete', mode: 'delta', events: 1 });
    expect(during.lastCompletePollAt).toBeGreaterThan(begun + 60);
    expect(after.lastCompletePollAt).toBeGreaterThanOrEqual(during.lastCompletePollAt);
    expect(after.lastCompleteEndAt).toBeGreaterThan(after.lastCompletePollAt);
    expect(after.requestsTotal).toBe(partner.requests.length);
    expect(partner.requests[asked], 'the poll that is due comes before the next page').not.toMatchObject({
      offset: 60,
    });
    // 20 pages, the rest is the polls' in between.
    expect(after.requestsLastPoll).toBe(20);
  });
});

describe('a sweep in which a filing that it has shown is removed', () => {
  it('still asks for the one that it has not shown', async () => {
    partner.clamp = 20;
    partner.put('f200', { status: 'COMPLETED' });
    const watched = await watch();
    await watched.poll();
    // Otherwise the polls in between would search for what the count lacks.
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
