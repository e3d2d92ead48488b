import { expect, test } from 'vitest';
import { createRandom } from '../../src/sandbox/random.ts';
import { startClusterOfSix } from './failovers/cluster-of-six.ts';
import { runFailovers } from './failovers/run-failovers.ts';

const seed = Number(process.env['CRASH_SEED'] ?? 20_261_124);

// A short piece of `npm run test:crash`.
test(`a stalled primary of a cluster is followed by a replica that lagged: what each receiver heard last of each filing is so (seed ${seed})`, async () => {
  await using group = await startClusterOfSix(createRandom(seed));
  const ways = group.ways.slice(0, 1);
  const { events } = await runFailovers(group, {
    ways,
    roles: ['api,poll,deliver'],
    kills: 0,
    perSecond: 20,
    random: createRandom(seed),
  });
  expect(events).toBeGreaterThan(0);
}, 180_000);
