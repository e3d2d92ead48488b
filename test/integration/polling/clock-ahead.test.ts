import { afterAll, expect, it } from 'vitest';
import { partnerRow, startHostilePartner } from '../../support/partner/hostile-partner.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { watchAccount } from '../../support/partner/watched-account.ts';

const redis = testRedis();
const client = redis.connect();
afterAll(() => redis.cleanup());

const day = 86_400_000;

function steppedClock() {
  let stepMs = 0;
  return {
    now: () => Date.now() + stepMs,
    synchronise: async () => {},
    steadySince: () => 0,
    step(ms: number) {
      stepMs += ms;
    },
  };
}

it('sweeps come as ever after a poll whose clock was a day ahead', async () => {
  await using partner = await startHostilePartner([
    partnerRow('a', 'PENDING'),
    partnerRow('b', 'COMPLETED', { completedAt: '2026-01-01T00:00:00.000Z' }),
  ]);
  const clock = steppedClock();
  const watched = await watchAccount(client, redis.prefix, partner, { clock, sweepIntervalMs: 900_000 });
  const poll = () => watched.poll('delta', { scheduled: true });
  await poll();
  clock.step(day);
  expect(await poll()).toMatchObject({ kind: 'complete', mode: 'sweep' });
  clock.step(900_000 - day);
  // Only a sweep can show this.
  partner.put('b', { completedAt: '2026-02-02T00:00:00.000Z' });
  expect(await poll()).toMatchObject({ kind: 'complete', mode: 'sweep', events: 1 });
  const marks = await watched.polling.read('acme');
  expect(marks.lastSweepAt).toBeLessThanOrEqual(clock.now());
  expect(marks.allSeenAt).toBe(marks.lastSweepAt);
  clock.step(60_000);
  expect((await poll()).kind).toBe('complete');
});

it('polls that the schedule calls for twice at a time are made once, and anybody who asks gets one', async () => {
  await using partner = await startHostilePartner([partnerRow('a', 'PENDING')]);
  const clock = steppedClock();
  const watched = await watchAccount(client, `${redis.prefix}-early`, partner, { clock });
  const poll = async (scheduled: boolean) => (await watched.poll('delta', { scheduled })).kind;
  expect(await poll(true)).toBe('complete');
  expect(await poll(true)).toBe('early');
  expect(await poll(false)).toBe('complete');
  clock.step(31_000);
  expect(await poll(true)).toBe('complete');
});

it('polls come as ever after a failed one whose clock was a day ahead', async () => {
  await using partner = await startHostilePartner([partnerRow('a', 'PENDING')]);
  const clock = steppedClock();
  const watched = await watchAccount(client, `${redis.prefix}-failed`, partner, { clock, retries: false });
  await watched.poll();
  clock.step(day);
  partner.misbehave = () => ({ status: 500 });
  expect((await watched.poll()).kind).toBe('failed');
  clock.step(60_000 - day);
  partner.misbehave = () => undefined;
  expect((await watched.poll('delta', { scheduled: true })).kind).toBe('complete');
});
