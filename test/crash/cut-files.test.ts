import { expect, test } from 'vitest';
import { createRandom } from '../../src/sandbox/random.ts';
import { startCutRedis } from './failovers/cut-redis.ts';
import { runFailovers } from './failovers/run-failovers.ts';

const cuts = Number(process.env['CRASH_CUTS'] ?? 9);
const seed = Number(process.env['CRASH_SEED'] ?? Date.now() % 1_000_000);

test(`a Redis that loses half a transaction, and is killed again once its file is rewritten, time after time: what each receiver heard last of each filing is so (seed ${seed})`, async () => {
  const random = createRandom(seed);
  await using group = await startCutRedis(random);
  const ways = Array.from({ length: cuts }, (_each, i) => group.ways[i % group.ways.length] ?? never());
  const { events } = await runFailovers(group, {
    ways,
    roles: ['api,poll,deliver'],
    kills: 0,
    perSecond: 20,
    random,
  });
  expect(events).toBeGreaterThan(0);
}, 3_600_000);

function never(): never {
  throw new Error('no such way');
}
