import { afterAll, describe, expect, test, vi } from 'vitest';
import { renewSecrets } from '../../../../src/subscriptions/signing-secret.ts';
import { createLatch, receiverSecret, startReceiver } from '../../../support/receivers/receiver.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { createHarness, type Harness } from '../drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const otherSecret = `whsec_${Buffer.from('another secret of 32 bytes, new!').toString('base64')}`;

describe('a change of the subscription', () => {
  test('of its URL sends what waits for a retry to the new one at once', async () => {
    await using former = await startReceiver(500);
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis, { retryMs: [3_600_000] });
    const id = await harness.subscribe(former.url);
    await harness.append('a', 'a', 'b');
    await harness.drain(id);
    await harness.change(id, { url: receiver.url }, { release: true });
    expect((await harness.state(id)).release).toBe(true);
    await harness.drain(id);
    const accepted = receiver.accepted.map(({ filingId, sequence }) => `${filingId}${sequence}`);
    expect(accepted.toSorted()).toEqual(['a1', 'a2', 'b1']);
    expect(accepted.indexOf('a1')).toBeLessThan(accepted.indexOf('a2'));
    expect(await harness.state(id)).toMatchObject({ release: false, parked: 0, failures: 0 });
  });

  test('is taken up by a run that hangs on the former endpoint', async () => {
    await using former = await startReceiver('hang');
    await using receiver = await startReceiver();
    // A run that hangs looks for changes from time to time only: some looks before its callback times out.
    await using harness = await createHarness(redis, { timeoutMs: 3_000, maxInFlight: 2 });
    const id = await harness.subscribe(former.url);
    await harness.append('a');
    const drained = harness.drain(id);
    await vi.waitFor(() => expect(former.inFlight()).toBe(1));
    await harness.change(id, { url: receiver.url }, { release: true });
    await harness.append('b');
    await vi.waitFor(() => expect(receiver.accepted.map(({ filingId }) => filingId)).toEqual(['b']));
    expect(former.inFlight()).toBe(1);
    await drained;
    // The timeout was the former endpoint's: it costs nothing, and the event goes to the new one at once.
    expect(receiver.accepted.map(({ filingId }) => filingId)).toEqual(['b', 'a']);
    expect((await harness.state(id)).failures).toBe(0);
  });

  test('gives an event all its retries at the new endpoint, although its last one hung on the former', async () => {
    const answered = createLatch();
    await using former = await startReceiver(async ({ attempt }) => {
      if (attempt > 1) await answered.opened;
      return 500;
    });
    await using receiver = await startReceiver(({ filingId, attempt }) =>
      filingId === 'a' && attempt === 1 ? 500 : 200,
    );
    await using harness = await createHarness(redis, { retryMs: [1] });
    const id = await harness.subscribe(former.url);
    harness.startWorker();
    await harness.publish('a');
    await vi.waitFor(() => expect(former.received.map(({ attempt }) => attempt)).toEqual([1, 2]));
    await harness.change(id, { url: receiver.url }, { release: true });
    await harness.publish('b');
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(1));
    answered.open();
    await vi.waitFor(async () => expect(await harness.state(id)).toMatchObject({ cursor: 2, parked: 0 }));
    expect(receiver.accepted.map(({ filingId }) => filingId)).toEqual(['b', 'a']);
  });

  test('of its secret signs the retries with the new one', async () => {
    await using receiver = await startReceiver(({ attempt }) => (attempt === 1 ? 500 : 200));
    await using harness = await createHarness(redis, { retryMs: [3_600_000] });
    const id = await harness.subscribe(receiver.url);
    await harness.append('a');
    await harness.drain(id);
    receiver.secrets = [otherSecret];
    await harness.change(id, { secrets: [{ text: otherSecret, expiresAt: null }] }, { release: true });
    await harness.drain(id);
    expect(receiver.accepted).toHaveLength(1);
    expect(receiver.refused).toEqual([]);
    expect(receiver.received[0]?.id).toBe(receiver.received[1]?.id);
  });

  test('by rotation signs with both secrets during the grace, and with the new one alone after it', async () => {
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis, { retryMs: [3_600_000] });
    const id = await harness.subscribe(receiver.url);
    const current = [{ text: receiverSecret, expiresAt: null }];
    const signatures = async (graceMs: number, filing: string) => {
      const renewal = { versions: ['v1'], secret: otherSecret, graceMs } as const;
      await harness.change(id, { secrets: renewSecrets(current, renewal, Date.now()) });
      await harness.append(filing);
      await harness.drain(id);
      return String(receiver.received.at(-1)?.headers['webhook-signature']).split(' ').length;
    };
    expect(await signatures(60_000, 'a')).toBe(2);
    receiver.secrets = [otherSecret];
    expect(await signatures(60_000, 'b')).toBe(2);
    expect(await signatures(0, 'c')).toBe(1);
    receiver.secrets = [receiverSecret];
    await harness.append('d');
    await harness.drain(id);
    expect(receiver.refused).toHaveLength(1);
  });

  test('of what it asks for holds for what waits already', async () => {
    await using receiver = await startReceiver(({ attempt }) => (attempt === 1 ? 500 : 200));
    await using harness = await createHarness(redis, { retryMs: [3_600_000] });
    const id = await harness.subscribe(receiver.url);
    await harness.append('a', 'a');
    await harness.drain(id);
    await harness.change(id, { eventTypes: ['filing.rejected'] }, { release: true });
    await harness.drain(id);
    expect(receiver.received).toHaveLength(1);
    expect(await harness.state(id)).toMatchObject({ parked: 0, cursor: 2 });
  });

  test('to disabled stops a run under way after what is in flight', async () => {
    const latch = createLatch();
    await using receiver = await startReceiver(async () => {
      await latch.opened;
      return 200;
    });
    await using harness = await createHarness(redis, { maxInFlight: 2 });
    const id = await harness.subscribe(receiver.url);
    await harness.append('a', 'b', 'c', 'd');
    const drained = harness.drain(id);
    await vi.waitFor(() => expect(receiver.inFlight()).toBe(2));
    await harness.change(id, {}, { enabled: false });
    latch.open();
    expect(await drained).toEqual({ wakeAt: null });
    expect(receiver.received).toHaveLength(2);
    await harness.change(id, {}, { enabled: true, release: true });
    await harness.drain(id);
    expect(receiver.accepted).toHaveLength(4);
  });

  test('to disabled and back is taken up by a run that hangs on the former endpoint', async () => {
    await using former = await startReceiver('hang');
    await using receiver = await startReceiver();
    await using harness = await createHarness(redis, { timeoutMs: 5_000 });
    const id = await harness.subscribe(former.url);
    const loading = vi.spyOn(harness.stores.deliveries, 'load');
    const lastFound = async () => loading.mock.results.at(-1)?.value;
    harness.startWorker();
    await harness.publish('a');
    await vi.waitFor(() => expect(former.inFlight()).toBe(1));
    await harness.change(id, {}, { enabled: false });
    await vi.waitFor(async () => expect(await lastFound()).toMatchObject([{ delivery: { enabled: false } }]));
    await harness.change(id, { url: receiver.url }, { enabled: true, release: true });
    await harness.publish('b');
    await vi.waitFor(() => expect(receiver.accepted.map(({ filingId }) => filingId)).toEqual(['b']));
    expect(former.inFlight()).toBe(1);
    await vi.waitFor(() => expect(receiver.accepted.map(({ filingId }) => filingId)).toEqual(['b', 'a']));
  });

  test('to removed stops a run under way and leaves no key', async () => {
    const latch = createLatch();
    await using receiver = await startReceiver(async () => {
      await latch.opened;
      return 500;
    });
    await using harness = await createHarness(redis, { maxInFlight: 1 });
    const id = await harness.subscribe(receiver.url);
    await harness.append('a', 'b');
    const drained = harness.drain(id);
    await vi.waitFor(() => expect(receiver.inFlight()).toBe(1));
    await harness.subscriptions.remove(harness.account, id);
    latch.open();
    expect(await drained).toEqual({ wakeAt: null });
    expect(receiver.received).toHaveLength(1);
    expect(await harness.stored.of(id).keys()).toEqual([]);
  });
});

/**
 * Does something once, as the outcome of an attempt is about to be written, so that the run learns of it with
 * that write.
 */
function beforeOutcome({ stores: { deliveries } }: Harness, act: () => Promise<unknown>): void {
  const { settle } = deliveries;
  let acted = false;
  vi.spyOn(deliveries, 'settle').mockImplementation(async (account, fence, settlement, now) => {
    if (!acted && settlement.subscriptions.some(({ attempts }) => attempts.length > 0)) {
      acted = true;
      await act();
    }
    return settle(account, fence, settlement, now);
  });
}

/** Whether the account's next poll at a time (ms) would wake its deliverer. */
const isDue = ({ stores, account }: Harness, at: number) => stores.deliveries.isDue(account, at);

const everyEvent = { after: null, before: null, eventTypes: null, filingId: 'z', deadLettersOnly: false };

describe('what a run learns of the endpoint', () => {
  const slowDown = { status: 429, headers: { 'retry-after': '3600' } };

  test.each<[string, (harness: Harness, id: string) => Promise<unknown>]>([
    ['the description', (harness, id) => harness.change(id, { description: 'new' })],
    ['the filters', (harness, id) => harness.change(id, { eventTypes: ['filing.*', 'account.*'] })],
    ['nothing but a replay', (harness, id) => harness.replayer.start(harness.account, id, everyEvent)],
  ])('is written although %s changed meanwhile', async (_, change) => {
    await using receiver = await startReceiver(slowDown);
    await using harness = await createHarness(redis);
    await harness.append('z');
    const id = await harness.subscribe(receiver.url);
    await harness.append('a');
    beforeOutcome(harness, () => change(harness, id));
    await harness.drain(id);
    const { failures, pausedUntil, nextAttemptAt } = await harness.state(id);
    expect(failures).toBe(1);
    expect(pausedUntil).toBeGreaterThan(Date.now());
    expect(nextAttemptAt).toBeGreaterThan(Date.now());
    expect([await isDue(harness, Date.now()), await isDue(harness, pausedUntil)]).toEqual([false, true]);
    await harness.append('b');
    await harness.drain(id);
    expect(receiver.received).toHaveLength(1);
  });

  test('disables it after 410 although the description changed meanwhile', async () => {
    await using receiver = await startReceiver(410);
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url);
    await harness.append('a');
    beforeOutcome(harness, () => harness.change(id, { description: 'new' }));
    await harness.drain(id);
    expect((await harness.state(id)).enabled).toBe(false);
    expect(harness.disabled).toEqual(['the endpoint answered 410 Gone']);
  });

  test('is not written once it may answer otherwise', async () => {
    await using receiver = await startReceiver(({ headers }) =>
      headers['x-key'] === 'new' ? 200 : slowDown,
    );
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url);
    await harness.append('a');
    beforeOutcome(harness, () => harness.change(id, { headers: { 'x-key': 'new' } }, { release: true }));
    expect(await harness.drain(id)).toEqual({ wakeAt: null });
    expect(receiver.accepted).toHaveLength(1);
    expect(await harness.state(id)).toMatchObject({ failures: 0, pausedUntil: 0, parked: 0 });
  });

  test('does not wake what was disabled meanwhile', async () => {
    await using receiver = await startReceiver(slowDown);
    await using harness = await createHarness(redis);
    const id = await harness.subscribe(receiver.url);
    await harness.append('a');
    beforeOutcome(harness, () => harness.change(id, {}, { enabled: false }));
    await harness.drain(id);
    expect(await harness.state(id)).toMatchObject({ enabled: false, failures: 1 });
    expect(await isDue(harness, Date.now() + 2 * 3_600_000)).toBe(false);
  });
});

test('a change of the description alone leaves pause, failures and next attempt as they are', async () => {
  await using receiver = await startReceiver(500);
  await using harness = await createHarness(redis, { retryMs: [60_000] });
  const id = await harness.subscribe(receiver.url);
  await harness.append('a', 'b', 'c');
  await harness.drain(id);
  const before = await harness.state(id);
  expect(before.pausedUntil).toBeGreaterThan(Date.now());
  await harness.change(id, { description: 'new' }, { enabled: true });
  expect(await harness.state(id)).toEqual({ ...before, version: before.version + 1 });
  const tried = receiver.received.length;
  expect(await harness.drain(id)).toEqual({ wakeAt: before.pausedUntil });
  expect(receiver.received).toHaveLength(tried);
});
