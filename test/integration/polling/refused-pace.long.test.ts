import { afterAll, afterEach, beforeEach, expect, it } from 'vitest';
import {
  partnerRow,
  startHostilePartner,
  type HostilePartner,
} from '../../support/partner/hostile-partner.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { watchAccount } from '../../support/partner/watched-account.ts';

const redis = testRedis();
const client = redis.connect();
afterAll(() => redis.cleanup());

let partner: HostilePartner;
let tests = 0;
let refused = 0;
beforeEach(async () => {
  tests += 1;
  refused = 0;
  partner = await startHostilePartner(
    Array.from({ length: 900 }, (_, i) => partnerRow(`f${i}`, i < 30 ? 'PENDING' : 'COMPLETED')),
  );
  // 900 filings on 150 pages.
  partner.clamp = 6;
});
afterEach(() => partner[Symbol.asyncDispose]());

const pages = 150;
const ceiling = 200;
const watch = () =>
  watchAccount(client, `${redis.prefix}${tests}`, partner, { maxRps: ceiling, pollIntervalMs: 600_000 });

/** A token bucket: so many requests a second and as many at once; every other one is refused. */
function allow(perSecond: number, retryAfter?: string): void {
  let tokens = perSecond;
  let at = performance.now();
  partner.misbehave = () => {
    const now = performance.now();
    tokens = Math.min(perSecond, tokens + ((now - at) / 1_000) * perSecond);
    at = now;
    if (tokens >= 1) {
      tokens -= 1;
      return undefined;
    }
    refused += 1;
    return {
      status: 429,
      headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
      body: '{}',
    };
  };
}

it.each([['1'], [undefined]])(
  'every poll completes under half the ceiling with Retry-After %s, and no list starts over',
  async (retryAfter) => {
    const watched = await watch();
    allow(ceiling / 2, retryAfter);
    expect(await watched.poll()).toMatchObject({ kind: 'complete', mode: 'sweep' });
    expect(await watched.snapshot.known('acme')).toBe(900);
    const lists = partner.requests.filter(({ endpoint }) => endpoint === 'filings');
    const wholeLists = lists.filter(({ status, offset }) => status === null && offset === 0);
    expect(wholeLists).toHaveLength(1);
    // The counts by status, and one that asks whose account it is.
    expect(partner.requests.length - refused).toBe(pages + 5 + 1);

    const outcomes = [];
    for (let poll = 0; poll < 20; poll += 1) outcomes.push((await watched.poll()).kind);
    expect(outcomes.filter((kind) => kind === 'complete').length).toBeGreaterThanOrEqual(19);
    expect(refused).toBeGreaterThan(0);
  },
  60_000,
);

it('a wait ends at once when the poll is stopped, and what it had read is kept', async () => {
  const watched = await watch();
  const stop = new AbortController();
  const refusal = { status: 429, headers: { 'retry-after': '50' }, body: '{}' };
  partner.misbehave = ({ number }) => (number > 5 ? refusal : undefined);
  const stopped = watched.poll('delta', { signal: stop.signal }).catch(() => 'stopped');
  await expect.poll(() => partner.requests.length).toBeGreaterThan(5);
  stop.abort();
  expect(await stopped).toBe('stopped');
  expect(await watched.snapshot.known('acme')).toBeGreaterThan(0);
});

it('a wait that would be too long ends the poll, and the next one heeds it', async () => {
  const watched = await watch();
  partner.misbehave = ({ number }) =>
    number > 5 ? { status: 429, headers: { 'retry-after': '120' }, body: '{}' } : undefined;
  expect(await watched.poll()).toMatchObject({ kind: 'failed', reason: 'rate_limited' });
  const sent = partner.requests.length;
  expect((await watched.poll('delta', { scheduled: true })).kind).toBe('backing_off');
  expect((await watched.polling.read('acme')).backoffUntil - watched.clock.now()).toBeGreaterThan(60_000);
  // One that is asked for does not wait for that.
  partner.misbehave = () => undefined;
  expect((await watched.poll()).kind).toBe('complete');
  expect(sent).toBeLessThan(10);
});
