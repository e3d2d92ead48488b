import { expect, test } from 'vitest';
import { createProduct, testConfig } from '../../support/daemon/product.ts';
import { startPrivateRedis } from '../../support/redis/test-redis.ts';
import { listenForCommits } from '../../../src/filings/commit/commit-journal.ts';

const generation = 'one';
const head = (position: number) => ({ position, timeline: 'f'.repeat(48) });

test('two deployments of one prefix in two databases of a server hear nothing of each other, so each knows its own newest commit', async () => {
  await using redis = await startPrivateRedis();
  const open = async (database: number) => {
    const product = await createProduct(testConfig('fw', `${redis.url}/${database}`), {});
    const { connections, keys, journal } = product.parts;
    await listenForCommits(connections.listening(), keys, journal);
    return product;
  };
  await using first = await open(0);
  await using sameAsFirst = await open(0);
  await using second = await open(1);
  const note = ({ parts: { journal } }: typeof first, own: string, position: number) =>
    journal.note({ account: 'default', generation: own, head: head(position), at: 1, commits: [] });
  await note(first, generation, 7);
  await note(second, 'other', 3);
  await note(first, generation, 8);
  // What was published before it has been heard by then.
  await expect.poll(() => sameAsFirst.parts.journal.newest('default', generation)).toEqual(head(8));
  await note(second, 'other', 4);
  await expect.poll(() => second.parts.journal.newest('default', 'other')).toEqual(head(4));
  await sameAsFirst.parts.connections.listening().ping();
  expect(sameAsFirst.parts.journal.newest('default', generation)).toEqual(head(8));
});
