import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApiFixture, hookUrl, type ApiFixture } from '../../support/api/api-fixture.ts';
import { eventWith } from '../../support/filter-expressions.ts';
import { appendScript } from '../../support/redis/append-script.ts';
import { testRedis } from '../../support/redis/test-redis.ts';

const redis = testRedis();
let api: ApiFixture;

beforeAll(async () => {
  api = await createApiFixture(redis.connect(), redis.prefix);
});
afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
});

/** Puts an event for each of these filings into the log of a new account. */
async function logOf(account: string, filings: readonly object[]): Promise<string> {
  const path = await api.createAccount(account);
  const keys = api.keys.account(account);
  const written = [keys.head, keys.events, keys.bodies, keys.filingEvents];
  const all = filings.flatMap((filing, i) => {
    const { id, type, body } = eventWith(filing as Record<string, unknown>);
    const own = `evt_${i}`;
    return [own, type, `f${i}`, 'TX', 'PENDING', Date.now(), body.replace(id, own)];
  });
  for (let i = 0; i < all.length; i += 7 * 200)
    // In the order of the log.
    await appendScript.run(redis.connect(), written, all.slice(i, i + 7 * 200));
  return `${path}/subscriptions/preview`;
}

test('a preview judges ten thousand events without holding up the process', async () => {
  const notes = 'n'.repeat(900);
  const filings = Array.from({ length: 10_000 }, (_, i) =>
    i % 100 === 7 ? { notes } : { premium: i, notes },
  );
  const path = await logOf('long', filings);
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const startedAt = performance.now();
  const answer = await api.ok('POST', path, { filter: 'filing.premium >= 9000', last: 10_000 });
  const elapsedMs = performance.now() - startedAt;
  delay.disable();
  expect(answer).toMatchObject({ matched: 990, of: 10_000, undecided: 100 });
  const samples = answer['samples'] as { id: string }[];
  expect(samples.map(({ id }) => id)).toEqual([9999, 9998, 9997, 9996, 9995].map((i) => `evt_${i}`));
  // Ten times what they take on a quiet machine.
  expect(elapsedMs).toBeLessThan(10_000);
  expect(delay.max / 1e6).toBeLessThan(500);
  expect(await api.ok('POST', path, { last: 50 })).toMatchObject({ matched: 50, of: 50, undecided: 0 });
  expect(await api.ok('POST', path, { states: ['CA'] })).toMatchObject({
    matched: 0,
    of: 1_000,
    samples: [],
  });
});

test('a preview of large events is bounded by their bytes, and says how many it looked at', async () => {
  const notes = 'n'.repeat(250_000);
  const path = await logOf(
    'large',
    Array.from({ length: 150 }, (_, i) => ({ premium: i, notes })),
  );
  const answer = await api.ok('POST', path, { filter: 'filing.premium >= 0', last: 10_000 });
  expect(answer).toMatchObject({ matched: answer['of'], undecided: 0 });
  expect(answer['of']).toBeLessThan(150);
  expect((answer['samples'] as unknown[]).length).toBe(4);
});

test('a filter is checked when it is given, shown, and removed by null', async () => {
  const path = await api.createAccount('fields');
  const wrong = await api.call('POST', `${path}/subscriptions`, {
    url: hookUrl,
    filter: 'data.filing.premuim > 10000',
  });
  expect(wrong.status).toBe(422);
  expect(wrong.body['errors']).toMatchObject([
    {
      path: 'filter',
      message: expect.stringMatching(
        /at character 13, .*did you mean data\.filing\.premium\?.* An example that can: /,
      ),
    },
  ]);
  expect((await api.call('POST', `${path}/subscriptions/preview`, { filter: 'true' })).status).toBe(422);
  const filter = 'data.filing.premium > 10000.0';
  const made = await api.ok('POST', `${path}/subscriptions`, { url: hookUrl, filter });
  expect(made).toMatchObject({ filter, undecided: 0 });
  const one = `${path}/subscriptions/${String(made['id'])}`;
  expect((await api.call('PATCH', one, { filter: 'premium' })).status).toBe(422);
  expect(await api.ok('PATCH', one, { description: 'kept' })).toMatchObject({ filter });
  expect(await api.ok('PATCH', one, { filter: null })).toMatchObject({ filter: null });
});
