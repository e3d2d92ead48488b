import { afterAll, expect, test, vi } from 'vitest';
import { startReceiver, type Receiver } from '../support/receivers/receiver.ts';
import { testRedis } from '../support/redis/test-redis.ts';
import { startStage, type DeliveryStage } from '../support/daemon/delivery-stage.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

// What a daemon has open without any callback, and a few connections that are being closed.
const ownFiles = 80;
const slow = { timeout: 150_000, interval: 50 };

/** Moves every filing `rounds` times, each time once the witness has the events of the round before. */
async function moveAll(
  stage: DeliveryStage,
  rounds: number,
  witness: Receiver,
  subscriptionsOfWitness: number,
): Promise<number> {
  for (let round = 1; round <= rounds; round += 1) {
    const expected = round * stage.filings.length * subscriptionsOfWitness;
    // oxlint-disable no-await-in-loop
    await stage.move();
    await vi.waitFor(() => expect(witness.accepted.length).toBe(expected), slow);
    // oxlint-enable no-await-in-loop
  }
  return rounds * stage.filings.length;
}

function expectOnceEach({ accepted, refused }: Receiver, events: number, times: number): void {
  const counts = Map.groupBy(accepted, ({ id }) => id);
  expect(counts.size).toBe(events);
  expect(new Set([...counts.values()].map(({ length }) => length))).toEqual(new Set([times]));
  expect(refused).toEqual([]);
}

test('an endpoint that hangs holds no more than its share, keeps its backlog, and the others get everything', async () => {
  await using stage = await startStage(
    redis,
    50,
    { DELIVERY_TIMEOUT_MS: '8000' },
    // Of each healthy one every filing may be in flight.
    { rssMiB: 450, files: 20 * 50 + 10 + ownFiles },
  );
  await using hanging = await startReceiver('hang');
  await using healthy = await startReceiver();
  const hung = await stage.subscribe(hanging.url);
  await Promise.all(Array.from({ length: 20 }, () => stage.subscribe(healthy.url)));
  const events = await moveAll(stage, 10, healthy, 20);
  expectOnceEach(healthy, events, 20);
  expect(hanging.inFlightMax()).toBe(10);
  expect(await stage.show(hung)).toMatchObject({ lag: events, lastSuccessAt: null });
  expect(await stage.all(`${hung}/dead-letters`)).toEqual([]);
}, 240_000);

test('beside as many endpoints that are dead in different ways, the healthy get everything once each', async () => {
  await using stage = await startStage(
    redis,
    4,
    {},
    // As many as may be in flight, a filing once each, and as many as are kept open.
    { rssMiB: 900, files: 1_000 * 4 + 2_048 + ownFiles },
  );
  await using canary = await startReceiver();
  await using hanging = await startReceiver('hang');
  await using failing = await startReceiver(500);
  await using resetting = await startReceiver('reset');
  await using moved = await startReceiver({ status: 302, headers: { location: canary.url } });
  await using refusing = await startReceiver();
  await using healthy = await startReceiver();
  await refusing.stop();
  const dead = [hanging, failing, resetting, moved, refusing];
  const each = Array.from({ length: 500 }, (_, i) => i);
  const paths = await Promise.all(each.map((i) => stage.subscribe(dead[i % dead.length]?.url ?? '')));
  await Promise.all(each.map(() => stage.subscribe(healthy.url)));
  const events = await moveAll(stage, 2, healthy, 500);
  expectOnceEach(healthy, events, 500);
  await vi.waitFor(
    async () => {
      const shown = new Map((await stage.subscriptions()).map((one) => [one.id, one]));
      const theirs = paths.map((path) => shown.get(path.split('/').at(-1) ?? ''));
      expect(new Set(theirs.map((one) => `${one?.state} ${one?.lag}`))).toEqual(
        new Set([`failing ${events}`]),
      );
    },
    { timeout: 200_000, interval: 1_000 },
  );
  await Promise.all(paths.map(async (path) => expect(await stage.all(`${path}/dead-letters`)).toEqual([])));
  expect(canary.received).toEqual([]);
}, 600_000);
