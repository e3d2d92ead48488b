import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import {
  startHostilePartner,
  partnerRow,
  type HostilePartner,
} from '../../support/partner/hostile-partner.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { startSlowLine, type SlowLine } from '../../support/connections/slow-line.ts';
import { watchAccount } from '../../support/partner/watched-account.ts';

const roundTripMs = 300;
const redis = testRedis();
let line: SlowLine;
let client: Redis;
let partner: HostilePartner;

beforeEach(async () => {
  line = await startSlowLine(Number(new URL(redis.url).port), { delayMs: roundTripMs / 2 });
  client = new Redis(line.url, { maxRetriesPerRequest: 0 });
  client.on('error', () => undefined);
  partner = await startHostilePartner(Array.from({ length: 2_000 }, (_, row) => partnerRow(`f${row}`)));
});

afterEach(async () => {
  client.disconnect();
  await partner[Symbol.asyncDispose]();
  await line[Symbol.asyncDispose]();
});

afterAll(() => redis.cleanup());

async function measured(work: () => Promise<unknown>): Promise<{ roundTrips: number; scripts: number }> {
  const scripts = () => (line.commands.get('EVALSHA') ?? 0) + (line.commands.get('EVAL') ?? 0);
  const [startedAt, before] = [performance.now(), scripts()];
  await work();
  return { roundTrips: (performance.now() - startedAt) / roundTripMs, scripts: scripts() - before };
}

test('pages wait for no other page’s round trips: twenty are compared and committed in the time of a few', async () => {
  const watched = await watchAccount(client, redis.prefix, partner, { account: 'slow' });
  const baseline = await measured(async () =>
    expect(await watched.poll('sweep')).toMatchObject({ kind: 'complete', events: 0 }),
  );
  expect(await watched.snapshot.known('slow')).toBe(2_000);
  // One to read and one to commit a page, once more where Redis does not know the script yet, and the marks.
  expect(baseline.scripts).toBeLessThan(90);
  // One page after the other they would be 50.
  expect(baseline.roundTrips).toBeLessThan(36);

  for (let row = 0; row < 5; row += 1) partner.put(`f${row * 400}`, { status: 'PAID' });
  const delta = await measured(() => watched.poll('delta'));
  expect(await watched.events()).toHaveLength(5);
  expect(delta.roundTrips).toBeLessThan(25);
});

test('a connection that is reset in the midst fails the poll, and the next one makes up for it', async () => {
  line.change({ delayMs: 10 });
  const watched = await watchAccount(client, redis.prefix, partner, { account: 'reset' });
  let pages = 0;
  partner.misbehave = () => {
    pages += 1;
    if (pages === 12) line.reset();
    return undefined;
  };
  await expect(watched.poll('sweep')).rejects.toThrow(/ECONNRESET|max retries|Connection is closed/);
  expect(await watched.polling.read('reset')).toMatchObject({
    baselined: false,
    lastSweepAt: 0,
    allSeenAt: 0,
  });
  expect(await watched.poll('sweep')).toMatchObject({ kind: 'complete', events: 0 });
  expect(await watched.snapshot.known('reset')).toBe(2_000);
});
