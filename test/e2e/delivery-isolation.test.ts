import { afterAll, expect, test, vi } from 'vitest';
import { startReceiver, type Receiver } from '../support/receiver.ts';
import { testRedis } from '../support/redis.ts';
import { expectFootprint, startStage } from './delivery-stage.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const slow = { timeout: 30_000, interval: 50 };

/** Moves every filing `rounds` times, each time once the witness has the events of the round before. */
async function moveAll(
  stage: Awaited<ReturnType<typeof startStage>>,
  rounds: number,
  witness: Receiver,
  subscriptionsOfWitness = 1,
): Promise<number> {
  for (let round = 1; round <= rounds; round += 1) {
    const expected = round * stage.filings.length * subscriptionsOfWitness;
    // oxlint-disable no-await-in-loop
    await stage.move();
    await vi.waitFor(() => expect(witness.accepted).toHaveLength(expected), slow);
    // oxlint-enable no-await-in-loop
  }
  return rounds * stage.filings.length;
}

test('an endpoint that hangs holds no more than its share, keeps its backlog, and the others get everything', async () => {
  await using stage = await startStage(redis, 20, { DELIVERY_MAX_IN_FLIGHT: '4' });
  await using hanging = await startReceiver('hang');
  await using healthy = await startReceiver();
  const hung = await stage.subscribe(hanging.url);
  await Promise.all(Array.from({ length: 10 }, () => stage.subscribe(healthy.url)));
  const events = await moveAll(stage, 5, healthy, 10);
  expect(hanging.inFlightMax()).toBe(4);
  expect(hanging.received).toHaveLength(4);
  expect(await stage.show(hung)).toMatchObject({ lag: events, lastSuccessAt: null });
  expect(await stage.all(`${hung}/dead-letters`)).toEqual([]);
  expect(healthy.refused).toEqual([]);
  await expectFootprint(stage.daemon, { files: 150, rssMiB: 400 });
}, 60_000);

test('beside as many endpoints that are dead in different ways, the healthy get everything once each', async () => {
  await using stage = await startStage(redis, 10, { DELIVERY_TIMEOUT_MS: '1000' });
  await using hanging = await startReceiver('hang');
  await using failing = await startReceiver(500);
  await using resetting = await startReceiver('reset');
  await using refusing = await startReceiver();
  await using healthy = await startReceiver();
  await refusing.stop();
  const dead = [hanging, failing, resetting, refusing];
  const kinds = await Promise.all(
    Array.from({ length: 40 }, (_, i) => stage.subscribe(dead[i % 4]?.url ?? '')),
  );
  await Promise.all(Array.from({ length: 40 }, () => stage.subscribe(healthy.url)));
  await moveAll(stage, 4, healthy, 40);
  const times = Map.groupBy(healthy.accepted, ({ id }) => id);
  expect(new Set([...times.values()].map(({ length }) => length))).toEqual(new Set([40]));
  await vi.waitFor(async () => {
    const states = await Promise.all(kinds.map((path) => stage.show(path)));
    expect(new Set(states.map(({ state }) => state))).toEqual(new Set(['failing']));
    expect(new Set(states.map(({ lag }) => lag))).toEqual(new Set([40]));
  }, slow);
  await Promise.all(kinds.map(async (path) => expect(await stage.all(`${path}/dead-letters`)).toEqual([])));
  await expectFootprint(stage.daemon, { files: 40 * 10 + 300, rssMiB: 450 });
}, 90_000);
