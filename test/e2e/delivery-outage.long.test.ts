import { afterAll, describe, expect, test, vi } from 'vitest';
import { startReceiver, type Callback, type Receiver } from '../support/receivers/receiver.ts';
import { testRedis } from '../support/redis/test-redis.ts';
import { startStage, type ShownAttempt } from '../support/daemon/delivery-stage.ts';
import { expectNone } from '../support/expect-none.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const slow = { timeout: 30_000, interval: 50 };
const hour = '3600000';

/** The sequences of a filing in the order of their acceptance. */
const sequencesOf = ({ accepted }: Receiver, filing: string) =>
  accepted.filter(({ filingId }) => filingId === filing).map(({ sequence }) => sequence);

function expectOneBodyPerId(received: readonly Callback[]): void {
  for (const same of Map.groupBy(received, ({ id }) => id).values())
    expect(new Set(same.map(({ raw }) => raw)).size).toBe(1);
}

describe('an endpoint that is down', () => {
  test('gets everything in order once it is back, and no attempt has counted', async () => {
    await using stage = await startStage(redis, 50, { DELIVERY_RETRY_MS: '150,150' });
    await using witness = await startReceiver();
    await using receiver = await startReceiver();
    await stage.subscribe(witness.url);
    const path = await stage.subscribe(receiver.url);
    await receiver.stop();
    for (let round = 1; round <= 4; round += 1) {
      // oxlint-disable no-await-in-loop
      await stage.move();
      await vi.waitFor(() => expect(witness.accepted.length).toBe(round * 50), slow);
      // oxlint-enable no-await-in-loop
    }
    // Far longer than the schedule lasts.
    await vi.waitFor(async () => {
      const { consecutiveFailures, nextAttemptAt, state, lag } = await stage.show(path);
      expect(consecutiveFailures).toBeGreaterThan(5);
      expect([state, lag]).toEqual(['failing', 200]);
      expect(Date.parse(nextAttemptAt ?? '')).toBeGreaterThan(Date.now());
    }, slow);
    await receiver.start();
    await vi.waitFor(() => expect(receiver.accepted.length).toBe(200), slow);
    for (const filing of stage.filings) expect(sequencesOf(receiver, filing)).toEqual([1, 2, 3, 4]);
    expect(receiver.overlapping).toEqual([]);
    expect(await stage.all(`${path}/dead-letters`)).toEqual([]);
    await vi.waitFor(async () => {
      const shown = await stage.show(path);
      expect(shown).toMatchObject({ state: 'active', lag: 0, consecutiveFailures: 0, nextAttemptAt: null });
      expect(Date.parse(shown.lastSuccessAt ?? '')).toBeLessThanOrEqual(Date.now());
    }, slow);
  }, 60_000);

  test('with one filing waiting is tried by its schedule, and everything goes with the first success', async () => {
    await using stage = await startStage(redis, 3, { DELIVERY_RETRY_MS: `150,${hour}` });
    await using receiver = await startReceiver(503);
    const path = await stage.subscribe(receiver.url);
    await stage.move(['f0']);
    await vi.waitFor(() => expect(receiver.received).toHaveLength(2), slow);
    await stage.move(['f0']);
    await vi.waitFor(async () => expect(await stage.show(path)).toMatchObject({ lag: 2 }), slow);
    receiver.answer(200);
    await stage.move(['f1']);
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(3), slow);
    expect(receiver.accepted.map(({ filingId, sequence }) => [filingId, sequence])).toEqual([
      ['f1', 1],
      ['f0', 1],
      ['f0', 2],
    ]);
    expectOneBodyPerId(receiver.received);
  }, 60_000);
});

test('one poison filing: only its lane waits, then it is a dead letter and the next one goes', async () => {
  await using stage = await startStage(redis, 50, { DELIVERY_RETRY_MS: '200,400' });
  await using receiver = await startReceiver(({ filingId, sequence }) =>
    filingId === 'f0' && sequence === 1 ? 500 : 200,
  );
  const path = await stage.subscribe(receiver.url);
  await stage.move();
  await vi.waitFor(() => expect(receiver.accepted).toHaveLength(49), slow);
  await stage.move();
  await vi.waitFor(() => expect(receiver.accepted).toHaveLength(99), slow);
  expect(sequencesOf(receiver, 'f0')).toEqual([2]);
  expect(await stage.all(`${path}/dead-letters`)).toMatchObject([
    { filingId: 'f0', attempts: 3, lastOutcome: 'http_error' },
  ]);
  const attempts = await stage.all<ShownAttempt & { filingId: string }>(`${path}/attempts`);
  const ofPoison = attempts.filter(({ filingId, outcome }) => filingId === 'f0' && outcome === 'http_error');
  expect(ofPoison.map(({ attempt }) => attempt)).toEqual([3, 2, 1]);
  expectOneBodyPerId(receiver.received);
}, 60_000);

describe('a subscription that changes', () => {
  test('disabled, then enabled: what it missed arrives once, in order', async () => {
    await using stage = await startStage(redis, 50);
    await using witness = await startReceiver();
    await using receiver = await startReceiver();
    await stage.subscribe(witness.url);
    const path = await stage.subscribe(receiver.url);
    await stage.move();
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(50), slow);
    await stage.daemon.api.ok('PATCH', path, { enabled: false });
    for (let round = 2; round <= 4; round += 1) {
      // oxlint-disable no-await-in-loop
      await stage.move();
      await vi.waitFor(() => expect(witness.accepted).toHaveLength(50 * round), slow);
      // oxlint-enable no-await-in-loop
    }
    expect(receiver.received).toHaveLength(50);
    expect(await stage.show(path)).toMatchObject({ state: 'disabled', lag: 150, nextAttemptAt: null });
    await stage.daemon.api.ok('PATCH', path, { enabled: true });
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(200), slow);
    for (const filing of stage.filings) expect(sequencesOf(receiver, filing)).toEqual([1, 2, 3, 4]);
    expect(receiver.received).toHaveLength(200);
  }, 60_000);

  test('URL and secret changed between attempts: the next one goes to the new place, signed anew', async () => {
    await using stage = await startStage(redis, 20, { DELIVERY_RETRY_MS: hour });
    await using former = await startReceiver(500);
    await using receiver = await startReceiver();
    const secret = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;
    receiver.secrets = [secret];
    const path = await stage.subscribe(former.url);
    await stage.move();
    await vi.waitFor(
      async () => expect(await stage.show(path)).toMatchObject({ state: 'failing', lag: 20 }),
      slow,
    );
    await vi.waitFor(() => expect(former.inFlight()).toBe(0), slow);
    const tried = new Set(former.received.map(({ id }) => id));
    await stage.daemon.api.ok('PATCH', path, { url: receiver.url, secret });
    await vi.waitFor(() => expect(receiver.accepted).toHaveLength(20), slow);
    expect(receiver.refused).toEqual([]);
    expect(new Set(former.received.map(({ id }) => id))).toEqual(tried);
    const sent = new Set(receiver.accepted.map(({ id }) => id));
    expect(sent.size).toBe(20);
    expectNone([...tried], (id) => !sent.has(id), 'attempts');
  }, 60_000);

  test('deleted while callbacks are in flight: nothing more is sent', async () => {
    await using stage = await startStage(redis, 8, { DELIVERY_MAX_IN_FLIGHT: '2' });
    await using witness = await startReceiver();
    await using receiver = await startReceiver('hang');
    const path = await stage.subscribe(receiver.url);
    await stage.subscribe(witness.url);
    await stage.move();
    await vi.waitFor(() => expect(receiver.inFlight()).toBe(2), slow);
    // A filing that moved again before a poll saw it would have one change.
    await vi.waitFor(() => expect(witness.accepted).toHaveLength(8), slow);
    await stage.daemon.api.ok('DELETE', path);
    await stage.move();
    await vi.waitFor(() => expect(witness.accepted).toHaveLength(16), slow);
    expect(receiver.received).toHaveLength(2);
    expect((await stage.daemon.api.call('GET', path)).status).toBe(404);
  }, 60_000);
});

test('replays by range, filing and dead letters, asked for twice at once, beside live events', async () => {
  await using stage = await startStage(redis, 6, { DELIVERY_RETRY_MS: '50' });
  await using receiver = await startReceiver(({ filingId }) => (filingId === 'f0' ? 500 : 200));
  const path = await stage.subscribe(receiver.url);
  await stage.move();
  await vi.waitFor(async () => expect(await stage.all(`${path}/dead-letters`)).toHaveLength(1), slow);
  await vi.waitFor(() => expect(receiver.accepted).toHaveLength(5), slow);
  receiver.answer(200);
  const original = new Map(receiver.received.map(({ id, raw }) => [id, raw]));
  const before = receiver.received.length;
  const replay = (request: object) =>
    stage.daemon.api.ok<{ id: string; matched: number }>('POST', `${path}/replay`, request);
  const started = await Promise.all([
    replay({ deadLettersOnly: true }),
    replay({ deadLettersOnly: true }),
    replay({ filingId: 'f1' }),
    replay({ after: '2020-01-01T00:00:00Z', eventTypes: ['filing.paid'] }),
  ]);
  await stage.move();
  expect(started[0]?.id).toBe(started[1]?.id);
  expect(started.map(({ matched }) => matched)).toEqual([1, 1, 1, 6]);
  // The dead letter, one filing, all six, and six live ones.
  await vi.waitFor(() => expect(receiver.accepted.length).toBe(5 + 1 + 1 + 6 + 6), slow);
  await vi.waitFor(async () => {
    const states = await Promise.all(
      started.map(({ id }) => stage.daemon.api.ok<{ state: string }>('GET', `${path}/replays/${id}`)),
    );
    expect(states.map(({ state }) => state)).toEqual(['finished', 'finished', 'finished', 'finished']);
  }, slow);
  const repeated = receiver.received.slice(before).filter(({ id }) => original.has(id));
  expect(repeated).toHaveLength(8);
  for (const { id, raw } of repeated) expect(raw).toBe(original.get(id));
  expect(await stage.all(`${path}/dead-letters`)).toEqual([]);
  expect(receiver.overlapping).toEqual([]);
}, 60_000);
