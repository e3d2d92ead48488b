import { afterAll, expect, test, vi } from 'vitest';
import { createEndExpired } from '../../../../src/delivery/expiry.ts';
import { createDisabler } from '../../../../src/delivery/store/disable-subscription.ts';
import { createKeys } from '../../../../src/redis/keys.ts';
import { expiredReason, type Subscription } from '../../../../src/subscriptions/subscription.ts';
import { createLatch, startReceiver } from '../../../support/receivers/receiver.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness, type Harness } from '../drain-harness.ts';

const redis = testRedis();
const keptMs = 60_000;
const unused = 'http://127.0.0.1:9/';
afterAll(() => redis.cleanup());

/** Delivery under a clock that the test moves. */
async function createStage({ clockRight = true, maxInFlight = 1 } = {}) {
  const clock = { at: Date.now() };
  const harness = await createHarness(redis, { now: () => clock.at, maxInFlight });
  const keys = createKeys(redis.prefix);
  const onDisabled = vi.fn<(subscription: Subscription, reason: string) => void>();
  const onRemoved = vi.fn<(subscription: Subscription) => void>();
  const endExpired = createEndExpired({
    subscriptions: harness.subscriptions,
    disable: createDisabler(harness.redis, keys),
    wake: harness.waker.wake,
    onDisabled,
    onRemoved,
    before: () => clock.at - keptMs,
    isClockRight: () => clockRight,
    now: () => clock.at,
  });
  const look = (id: string) => endExpired(harness.account, id);
  return { harness, clock, look, onDisabled, onRemoved };
}

const types = async ({ log, account }: Harness) =>
  (await log.outlineAfter(account, 0, 100)).map(({ type }) => type);

test('nothing is sent after its time, what was under way is settled, and a renewal delivers the rest', async () => {
  const { harness, clock } = await createStage();
  await using _ = harness;
  await using receiver = await startReceiver();
  const expiresAt = clock.at + 5_000;
  const id = await harness.subscribe(receiver.url, { expiresAt });
  receiver.answer(({ filingId }) => {
    if (filingId === 'f2') clock.at = expiresAt;
    return 200;
  });
  await harness.append('f1', 'f2', 'f3', 'f4');
  expect(await harness.drain(id)).toEqual({ wakeAt: null });
  const got = () => receiver.accepted.map(({ filingId }) => filingId);
  expect(got()).toEqual(['f1', 'f2']);
  expect(await harness.state(id)).toMatchObject({ enabled: false, disabledReason: expiredReason });
  expect(harness.disabled).toEqual([expiredReason]);
  await harness.drain(id);
  expect(receiver.received).toHaveLength(2);
  expect(await types(harness)).toEqual([...Array<string>(4).fill('filing.pending'), 'subscription.disabled']);

  await harness.append('f5');
  await harness.change(id, { expiresAt: clock.at + 5_000 }, { enabled: true, release: true });
  await harness.drain(id);
  expect(got()).toEqual(['f1', 'f2', 'f3', 'f4', 'f5']);
  expect(receiver.received).toHaveLength(5);
});

test('a renewal is taken up by a run that was over but for a callback that hangs', async () => {
  const { harness, clock } = await createStage({ maxInFlight: 2 });
  await using _ = harness;
  const answered = createLatch();
  await using receiver = await startReceiver(async ({ filingId }) => {
    if (filingId === 'f1') await answered.opened;
    if (filingId === 'f2') clock.at = expiresAt;
    return 200;
  });
  const expiresAt = clock.at + 5_000;
  const id = await harness.subscribe(receiver.url, { expiresAt });
  await harness.append('f1', 'f2', 'f3');
  const drained = harness.drain(id);
  const got = () => receiver.accepted.map(({ filingId }) => filingId);
  await vi.waitFor(async () => expect((await harness.state(id)).done).toBe('2'));
  await harness.change(id, { expiresAt: clock.at + 5_000 }, { enabled: true, release: true });
  await vi.waitFor(() => expect(got()).toEqual(['f2', 'f3']));
  answered.open();
  await drained;
  expect(got()).toEqual(['f2', 'f3', 'f1']);
});

test('one that has been expired for as long as events are kept is removed, and no other', async () => {
  const { harness, clock, look, onRemoved } = await createStage();
  await using _ = harness;
  const id = await harness.subscribe(unused, { expiresAt: clock.at + 1_000 });
  const other = await harness.subscribe(unused);
  expect(await look(id)).toBe(false);
  expect((await harness.state(id)).enabled).toBe(true);
  clock.at += keptMs + 999;
  expect(await look(id)).toBe(false);
  expect((await harness.state(id)).enabled).toBe(false);
  clock.at += 1;
  expect(await look(id)).toBe(true);
  expect(await harness.subscriptions.get(harness.account, id)).toBeNull();
  expect(onRemoved).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ id }));
  expect(await look(other)).toBe(false);
  expect((await harness.state(other)).enabled).toBe(true);
});

test('one that a client has disabled keeps that reason, and is removed as well', async () => {
  const { harness, clock, look, onDisabled } = await createStage();
  await using _ = harness;
  const id = await harness.subscribe(unused, { expiresAt: clock.at + 1_000 });
  await harness.change(id, {}, { enabled: false });
  clock.at += 1_000;
  await look(id);
  expect((await harness.state(id)).disabledReason).toBe('by request');
  expect(onDisabled).not.toHaveBeenCalled();
  clock.at += keptMs;
  expect(await look(id)).toBe(true);
});

test('a renewal during the look counts', async () => {
  const { harness, clock, look } = await createStage();
  await using _ = harness;
  for (const expiredForMs of [0, keptMs]) {
    const id = await harness.subscribe(unused, { expiresAt: clock.at });
    clock.at += expiredForMs;
    const { get } = harness.subscriptions;
    const read = vi.spyOn(harness.subscriptions, 'get').mockImplementationOnce(async (account, of) => {
      const found = await get(account, of);
      await harness.change(id, { expiresAt: clock.at + 2_000 });
      return found;
    });
    expect(await look(id)).toBe(false);
    read.mockRestore();
    expect((await harness.state(id)).enabled).toBe(true);
  }
});

test('one that is gone is told as such, and one that cannot be read is left alone', async () => {
  const { harness, look } = await createStage();
  await using _ = harness;
  await harness.stored.setSubscription('garbage', 'garbage');
  expect(await look('gone')).toBe(true);
  expect(await look('garbage')).toBe(false);
});

test('nothing is decided while the clocks contradict each other', async () => {
  const { harness, clock, look } = await createStage({ clockRight: false });
  await using _ = harness;
  const id = await harness.subscribe(unused, { expiresAt: clock.at + 1_000 });
  clock.at += keptMs * 10;
  expect(await look(id)).toBe(false);
  expect((await harness.state(id)).enabled).toBe(true);
});
