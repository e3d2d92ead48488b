import { afterAll, expect, test, vi } from 'vitest';
import { createDueExpiries } from '../../../../src/daemon/upkeep/rounds/due-expiries.ts';
import { createDisabler } from '../../../../src/delivery/store/disable-subscription.ts';
import { createKeys } from '../../../../src/redis/keys.ts';
import { expiredReason, whileItLasts } from '../../../../src/subscriptions/expiry/expiry.ts';
import type { Subscription } from '../../../../src/subscriptions/subscription.ts';
import { createLatch, startReceiver } from '../../../support/receivers/receiver.ts';
import { rowsRead } from '../../../support/redis/rows-read.ts';
import { shareOf, startPrivateRedis, testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness, type Harness } from '../drain-harness.ts';

const redis = testRedis();
const keptMs = 60_000;
const unused = 'http://127.0.0.1:9/';
afterAll(() => redis.cleanup());

/** Delivery under a clock that the test moves. */
async function createStage({ clockRight = true, on = redis, maxInFlight = 1 } = {}) {
  const clock = { at: Date.now() };
  const harness = await createHarness(on, { now: () => clock.at, maxInFlight });
  const keys = createKeys(on.prefix);
  const onDisabled = vi.fn<(subscription: Subscription, reason: string) => void>();
  const info = vi.fn<(line: object, message: string) => void>();
  const look = createDueExpiries({
    expiries: harness.stores.expiries,
    subscriptions: harness.subscriptions,
    disable: createDisabler(harness.redis, keys),
    waker: harness.waker,
    onDisabled,
    logger: { info } as never,
    keptMs,
    before: () => clock.at - keptMs,
    isClockRight: () => clockRight,
    now: () => clock.at,
  });
  const dueAt = (id: string) => harness.redis.zscore(keys.expiring, `${harness.account} ${id}`);
  return { harness, clock, keys, look, onDisabled, info, dueAt };
}

const types = async ({ log, account }: Harness) =>
  (await log.outlineAfter(account, 0, 100)).map(({ type }) => type);

test('nothing is sent after its time, what was under way is settled, and a renewal delivers the rest', async () => {
  const { harness, clock, look, onDisabled } = await createStage();
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
  await harness.drain(id);
  expect(receiver.received).toHaveLength(2);
  expect(whileItLasts(await harness.state(id), { expiresAt }, clock.at)).toMatchObject({
    enabled: false,
    disabledReason: expiredReason,
  });

  await look();
  await look();
  expect(await harness.state(id)).toMatchObject({ enabled: false, disabledReason: expiredReason });
  expect(onDisabled).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ id }), expiredReason);
  expect(await types(harness)).toEqual([...Array<string>(4).fill('filing.pending'), 'subscription.disabled']);

  await harness.append('f5');
  await harness.change(id, { expiresAt: clock.at + 5_000 }, { enabled: true, release: true });
  await harness.drain(id);
  expect(got()).toEqual(['f1', 'f2', 'f3', 'f4', 'f5']);
  expect(receiver.received).toHaveLength(5);
});

test('a renewal is taken up by a drain that was over but for a callback that hangs', async () => {
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
  const { harness, clock, look, info, dueAt } = await createStage();
  await using _ = harness;
  const id = await harness.subscribe(unused, { expiresAt: clock.at + 1_000 });
  const other = await harness.subscribe(unused);
  await look();
  expect((await harness.state(id)).enabled).toBe(true);
  clock.at += 1_000;
  await look();
  expect(Number(await dueAt(id))).toBe(clock.at + keptMs);
  clock.at += keptMs - 1;
  await look();
  expect((await harness.state(id)).enabled).toBe(false);
  clock.at += 1;
  await look();
  expect(await harness.subscriptions.get(harness.account, id)).toBeNull();
  expect(info).toHaveBeenCalledExactlyOnceWith(
    { account: harness.account, subscription: id },
    'subscription.removed_expired',
  );
  expect(await dueAt(id)).toBeNull();
  expect((await harness.state(other)).enabled).toBe(true);
});

test('one that a client has disabled keeps that reason, and is removed as well', async () => {
  const { harness, clock, look, onDisabled } = await createStage();
  await using _ = harness;
  const id = await harness.subscribe(unused, { expiresAt: clock.at + 1_000 });
  await harness.change(id, {}, { enabled: false });
  clock.at += 1_000;
  await look();
  expect((await harness.state(id)).disabledReason).toBe('by request');
  expect(onDisabled).not.toHaveBeenCalled();
  clock.at += keptMs;
  await look();
  expect(await harness.subscriptions.get(harness.account, id)).toBeNull();
});

test.each(['later', 'earlier', 'never'] as const)('a time that is moved to %s counts', async (moved) => {
  const { harness, clock, look, dueAt } = await createStage();
  await using _ = harness;
  const id = await harness.subscribe(unused, { expiresAt: clock.at + 10_000 });
  const expiresAt = { later: clock.at + 20_000, earlier: clock.at + 5_000, never: null }[moved];
  await harness.change(id, { expiresAt });
  clock.at += 5_000;
  await look();
  expect((await harness.state(id)).enabled).toBe(moved !== 'earlier');
  clock.at += 5_000;
  await look();
  expect((await harness.state(id)).enabled).toBe(moved !== 'earlier');
  expect((await dueAt(id)) === null).toBe(moved === 'never');
  clock.at += 10_000;
  await look();
  expect((await harness.state(id)).enabled).toBe(moved === 'never');
});

test('a renewal during the look counts, whichever of the two comes first', async () => {
  const { harness, clock, look, dueAt } = await createStage();
  await using _ = harness;
  const id = await harness.subscribe(unused, { expiresAt: clock.at + 1_000 });
  clock.at += 1_000;
  const renewedAt = clock.at + 2_000;
  const { get } = harness.subscriptions;
  const read = vi.spyOn(harness.subscriptions, 'get').mockImplementationOnce(async (account, of) => {
    const found = await get(account, of);
    await harness.change(id, { expiresAt: renewedAt });
    return found;
  });
  await look();
  read.mockRestore();
  expect((await harness.state(id)).enabled).toBe(true);
  expect(Number(await dueAt(id))).toBe(renewedAt);
});

test('one that is gone is forgotten, and one that cannot be read is looked at later', async () => {
  const { harness, clock, look, dueAt } = await createStage();
  await using _ = harness;
  const [gone, garbage] = [
    await harness.subscribe(unused, { expiresAt: clock.at + 1_000 }),
    await harness.subscribe(unused, { expiresAt: clock.at + 1_000 }),
  ];
  await harness.redis.hdel(harness.keys.subscriptions, gone);
  await harness.redis.hset(harness.keys.subscriptions, garbage, 'garbage');
  clock.at += 1_000;
  await look();
  expect(await dueAt(gone)).toBeNull();
  expect(Number(await dueAt(garbage))).toBeGreaterThan(clock.at);
});

test('a key of another type keeps no other subscription from its end', async () => {
  const { harness, clock, keys, look, dueAt } = await createStage();
  await using _ = harness;
  const broken = await harness.subscribe(unused, { expiresAt: clock.at + 1_000 });
  const other = await harness.subscribe(unused, { expiresAt: clock.at + 2_000 });
  const { state } = keys.account(harness.account).subscription(broken);
  await harness.redis.del(state);
  await harness.redis.set(state, 'garbage');
  clock.at += 2_000;
  await look();
  expect((await harness.state(other)).disabledReason).toBe(expiredReason);
  expect(Number(await dueAt(broken))).toBeGreaterThan(clock.at);
});

test('a removed subscription, and a registration that came twice, leave nothing to be looked at', async () => {
  const { harness, clock, dueAt } = await createStage();
  await using _ = harness;
  const id = await harness.subscribe(unused, { expiresAt: clock.at + keptMs });
  const stored = await harness.subscriptions.get(harness.account, id);
  const register = (own: string) =>
    harness.subscriptions.create({ ...stored!.subscription, id: own }, { key: 'k', request: 'r' });
  expect(await register('sub_first')).toMatchObject({ kind: 'created' });
  expect(await register('sub_second')).toMatchObject({ kind: 'replayed' });
  expect(Number(await dueAt('sub_first'))).toBe(clock.at + keptMs);
  expect(await dueAt('sub_second')).toBeNull();

  await harness.subscriptions.remove(harness.account, id);
  expect(await dueAt(id)).toBeNull();
});

test('those that went with their account are forgotten before their time, and no registration under way', async () => {
  const { harness, clock, look, keys, dueAt } = await createStage();
  await using _ = harness;
  const expiresAt = clock.at + keptMs;
  const [kept, gone, registered] = await Promise.all(
    Array.from({ length: 3 }, () => harness.subscribe(unused, { expiresAt })),
  );
  const { subscriptions } = keys.account(harness.account);
  const text = await harness.redis.hget(subscriptions, registered!);
  await harness.redis.hdel(subscriptions, gone!, registered!);

  expect(await harness.stores.expiries.hastenGone(clock.at + 1_000)).toBe(2);
  await harness.redis.hset(subscriptions, registered!, text!);
  expect(await harness.stores.expiries.hastenGone(clock.at + 2_000)).toBe(1);
  await look();
  expect(Number(await dueAt(gone!))).toBe(clock.at + 1_000);

  clock.at += 1_000;
  await look();
  expect(await dueAt(gone!)).toBeNull();
  expect(Number(await dueAt(registered!))).toBe(expiresAt);
  expect(Number(await dueAt(kept!))).toBe(expiresAt);
});

test('nothing is decided while the clocks contradict each other', async () => {
  const { harness, clock, look } = await createStage({ clockRight: false });
  await using _ = harness;
  const id = await harness.subscribe(unused, { expiresAt: clock.at + 1_000 });
  clock.at += keptMs * 10;
  await look();
  expect((await harness.state(id)).enabled).toBe(true);
});

test('a look is one command while nothing is due, however many expire', async () => {
  // Commands of other files would count.
  await using stack = new AsyncDisposableStack();
  const on = shareOf(stack.use(await startPrivateRedis()).url);
  stack.defer(on.cleanup);
  const { harness, clock, look, keys } = await createStage({ on });
  await using _ = harness;
  for (let i = 0; i < 20; i += 1) await harness.subscribe(unused, { expiresAt: clock.at + 3_600_000 });
  const before = await harness.redis.zcard(keys.expiring);
  await harness.subscribe(unused);
  expect(await harness.redis.zcard(keys.expiring)).toBe(before);
  clock.at = 1;
  expect((await rowsRead(on.connect(), look)).commands).toBe(1);
});
