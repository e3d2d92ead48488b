import { expect, test } from 'vitest';
import { createRandom } from '../../src/sandbox/random.ts';
import { startClusterOfSix } from './failovers/cluster-of-six.ts';
import { runFailovers } from './failovers/run-failovers.ts';
import { startSwitchedProxy } from './failovers/switched-proxy.ts';
import { startThreeSentinels } from './failovers/three-sentinels.ts';

const failovers = Number(process.env['CRASH_FAILOVERS'] ?? 10);
const two = ['api,poll,deliver', 'api,poll,deliver'];
const mixed = ['api,poll', 'poll,deliver', 'deliver', 'api,deliver'];
const seed = Number(process.env['CRASH_SEED'] ?? Date.now() % 1_000_000);

test.each([
  ['the primaries of a cluster of six fail and slots move', startClusterOfSix, 0.5, two, 0],
  [
    'four daemons of mixed roles are killed while the primaries of a cluster of six fail and slots move',
    startClusterOfSix,
    0.6,
    mixed,
    3,
  ],
  ['a proxy goes over to a replica without closing a connection', startSwitchedProxy, 0.3, two, 0],
  ['the master behind three sentinels fails', startThreeSentinels, 0.2, two, 0],
])(
  `%s again and again, with replicas that lag: what each receiver heard last of each filing is so (seed ${seed})`,
  async (_, start, share, roles, kills) => {
    const random = createRandom(seed);
    await using group = await start(createRandom(seed));
    const times = Math.ceil(failovers * share);
    const ways = Array.from({ length: times }, () => group.ways)
      .flat()
      .slice(0, times);
    const { events } = await runFailovers(group, {
      ways,
      roles,
      kills,
      perSecond: 20 + random() * 40,
      random,
    });
    expect(events).toBeGreaterThan(0);
  },
  3_600_000,
);
