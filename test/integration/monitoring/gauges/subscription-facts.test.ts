import { afterAll, expect, test } from 'vitest';
import { createEventLog } from '../../../../src/events/event-log.ts';
import { readSubscriptionFacts } from '../../../../src/monitoring/gauges/account-facts.ts';
import { createKeys } from '../../../../src/redis/keys.ts';
import { createSealer } from '../../../../src/secrets/seal.ts';
import { createLagReader } from '../../../../src/subscriptions/lag.ts';
import { createSubscriptionReads } from '../../../../src/subscriptions/store/subscription-reads.ts';
import { appendEvent, paidEvent } from '../../../support/redis/append-script.ts';
import { storedAccount } from '../../../support/redis/stored-account.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());
const client = redis.connect();
const keys = createKeys(redis.prefix);
const log = createEventLog(client, keys);
const lags = createLagReader({ log, outline: createEventLog(client, keys).outlineAfter });
const sealer = createSealer([{ id: 'k', key: Buffer.alloc(32, 1) }]);
const reads = createSubscriptionReads(client, keys, sealer);

/** Stores a subscription as far as its gauges depend on it. */
async function put(
  account: string,
  id: string,
  eventTypes: readonly string[],
  state: Readonly<Record<string, string>> = {},
  url = 'https://a.example/',
): Promise<void> {
  const stored = storedAccount(client, keys.account(account));
  const settings = { id, url, eventTypes, states: null };
  await stored.setSubscription(
    id,
    JSON.stringify({ ...settings, createdAt: 1, updatedAt: 1, privateSettings: 'sealed' }),
  );
  await stored.of(id).setState({ cursor: '0', ...state });
}

async function append(account: string, count: number): Promise<void> {
  for (let i = 1; i <= count; i += 1)
    await appendEvent(client, keys.account(account), paidEvent(`f_${i}`), i);
}

const block = (more: object) => JSON.stringify({ reason: 'why', since: 1, times: 0, nextAt: 1, ...more });

const read = (account: string, waitsFor: (url: string) => string | null = () => null) =>
  readSubscriptionFacts({ reads, log, lags, waitsFor: async () => waitsFor, now: () => 10_000 }, account);

test('counts what each subscription wants and has not got, and their states', async () => {
  await append('one', 5);
  await put('one', 'behind', ['filing.paid']);
  await put('one', 'other_type', ['filing.rejected'], { failures: '2' });
  await put('one', 'up_to_date', ['filing.*'], { cursor: '5', parked: '2', enabled: '0' });
  await put('one', 'blocked', ['filing.*'], { cursor: '4', blocked: block({}) });
  await put('one', 'unproven', ['filing.*'], { cursor: '4', blocked: block({ unverified: true }) });
  const { byState, lags: lagOf, waiting } = await read('one');
  expect(byState).toEqual({ active: 1, failing: 2, unverified: 1, disabled: 1 });
  expect(Object.fromEntries(lagOf)).toEqual({
    behind: 5,
    other_type: 0,
    up_to_date: 2,
    blocked: 1,
    unproven: 1,
  });
  // Without those of the one that is disabled.
  expect(waiting).toBe(5 + 1 + 1);
});

test('tells whether one that is enabled covers REJECTED, however many do not', async () => {
  for (let i = 0; i < 150; i += 1) await put('covers', `other_${i}`, ['filing.completed']);
  await put('covers', 'disabled', ['filing.*'], { enabled: '0' });
  expect((await read('covers')).coversRejections).toBe(false);
  await put('covers', 'all', ['filing.*']);
  expect((await read('covers')).coversRejections).toBe(true);
});

test('counts what five hundred want of those that are behind, and all events of the rest', async () => {
  await append('many', 3);
  const ids = Array.from({ length: 1_100 }, (_, i) => `sub_${i}`);
  // Six hundred are behind and want none of it, which is known of five hundred.
  for (const [i, id] of ids.entries())
    await put('many', id, ['filing.rejected'], { cursor: i < 600 ? '1' : '3' });
  const { byState, lags: lagOf } = await read('many');
  expect(byState.active).toBe(1_100);
  expect([...lagOf.values()].filter((lag) => lag === 2)).toHaveLength(100);
  expect([...lagOf.values()].filter((lag) => lag === 0)).toHaveLength(1_000);
});

test('shows one whose state cannot be read as failing, and reads the rest', async () => {
  await put('two', 'fine', ['filing.*']);
  await put('two', 'broken_state', ['filing.*'], { cursor: 'x' });
  const { byState, lags: lagOf, failing } = await read('two');
  expect(byState).toMatchObject({ active: 1, failing: 1 });
  expect([...lagOf.keys()].toSorted()).toEqual(['broken_state', 'fine']);
  // Since when is not known.
  expect(failing.size).toBe(0);
});

test('counts those to which nothing is sent by the reason, also those that wait for the proxy', async () => {
  await append('held', 2);
  const types = ['filing.*'];
  await put('held', 'paused', types, { pausedUntil: '10009' }, 'https://direct.example/');
  await put('held', 'blocked', types, { blocked: block({}) });
  await put('held', 'disabled', types, { enabled: '0' });
  await put('held', 'proxied', types, {});
  await put('held', 'proxied_at_head', types, { cursor: '2' });
  const { held } = await read('held', (url) => (url.includes('direct') ? null : 'The proxy is down.'));
  expect(held).toEqual({ paused: 1, blocked: 1, disabled: 1, proxy: 1 });
  expect((await read('held')).held).toEqual({ paused: 1, blocked: 1, disabled: 1 });
});
