import { afterAll, expect, test, vi } from 'vitest';
import { startReceiver } from '../support/receivers/receiver.ts';
import { testRedis } from '../support/redis/test-redis.ts';
import { startStage } from '../support/daemon/delivery-stage.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const slow = { timeout: 30_000, interval: 50 };
const events = '/v1/accounts/default/events';

interface ShownDeadLetter {
  readonly lastOutcome: string;
  readonly events: number;
}

test('a subscription that fell behind the retention is told by its lag, a metric, dead letters and an event; what is left arrives', async () => {
  await using stage = await startStage(redis, 10, { EVENT_RETENTION_MS: '4000' });
  await using receiver = await startReceiver();
  await using watching = await startReceiver();
  const path = await stage.subscribe(receiver.url);
  await stage.subscribe(watching.url, { eventTypes: ['subscription.fell_behind'] });
  await stage.daemon.api.ok('PATCH', path, { enabled: false });
  for (const round of [1, 2]) {
    // oxlint-disable no-await-in-loop
    await stage.move();
    await vi.waitFor(
      async () => expect(await stage.show(path)).toMatchObject({ state: 'disabled', lag: 10 * round }),
      slow,
    );
    // oxlint-enable no-await-in-loop
  }
  await vi.waitFor(async () => expect(await stage.all(events)).toEqual([]), slow);
  expect(await stage.show(path)).toMatchObject({ state: 'disabled', lag: 20 });
  await stage.move(['f0']);
  await vi.waitFor(async () => expect(await stage.show(path)).toMatchObject({ lag: 21 }), slow);
  expect(watching.received).toEqual([]);

  await stage.daemon.api.ok('PATCH', path, { enabled: true });
  await vi.waitFor(() => expect(watching.accepted).toHaveLength(1), slow);
  expect(JSON.parse(watching.accepted[0]?.raw ?? '')).toMatchObject({
    type: 'subscription.fell_behind',
    data: { account: 'default', subscription: path.split('/').at(-1), events: 20 },
  });
  await vi.waitFor(() => expect(receiver.accepted).toHaveLength(1), slow);
  expect(receiver.accepted[0]).toMatchObject({ filingId: 'f0', sequence: 3 });
  const letters = await stage.all<ShownDeadLetter>(`${path}/dead-letters`);
  expect(letters).toMatchObject([{ lastOutcome: 'expired', events: 20 }]);
  const metrics = await (await fetch(`${stage.daemon.url}/metrics`)).text();
  expect(metrics).toContain('filing_webhooks_dead_letters_total 20\n');
  await vi.waitFor(
    async () => expect(await stage.show(path)).toMatchObject({ state: 'active', lag: 0 }),
    slow,
  );
  const { matched } = await stage.daemon.api.ok<{ matched: number }>('POST', `${path}/replay`, {
    deadLettersOnly: true,
  });
  expect(matched).toBe(0);
}, 60_000);
