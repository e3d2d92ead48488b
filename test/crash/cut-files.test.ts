import { expect, test } from 'vitest';
import { createRandom } from '../../src/sandbox/random.ts';
import { startCutRedis } from './failovers/cut-redis.ts';
import { runFailovers } from './failovers/run-failovers.ts';
import { expectMendedAlone, expectMendedBehindChanges } from '../support/redis/cut-commit.ts';

const cuts = Number(process.env['CRASH_CUTS'] ?? 9);
const seed = Number(process.env['CRASH_SEED'] ?? Date.now() % 1_000_000);

test.each([
  ['rewrites its file', false],
  ['refuses to rewrite its file', true],
])(
  `a Redis that %s loses half a transaction and is killed again, time after time: what each receiver heard last of each filing is so (seed ${seed})`,
  async (_, refuses) => {
    const random = createRandom(seed);
    await using group = await startCutRedis(random, refuses);
    const ways = Array.from({ length: cuts }, (_each, i) => group.ways[i % group.ways.length] ?? never());
    const { events } = await runFailovers(group, {
      ways,
      roles: ['api,poll,deliver'],
      kills: 0,
      perSecond: 20,
      random,
    });
    expect(events).toBeGreaterThan(0);
  },
  3_600_000,
);

const parts = Array.from({ length: 40 }, (_, i) => (i + 0.5) / 40);

test.each(parts)('a commit of which %d was left, and other changes behind it', async (part) => {
  await expectMendedBehindChanges(part);
});
test.each(parts)('a commit of which %d was left, and nothing of the account behind it', async (part) => {
  await expectMendedAlone(part);
});

function never(): never {
  throw new Error('no such way');
}
