import { afterAll, expect, it } from 'vitest';
import { memberOf, rankOf } from '../../../src/filings/detection/age-rank.ts';
import { createSnapshotStore } from '../../../src/filings/snapshot-store.ts';
import { createKeys } from '../../../src/redis/keys.ts';
import { storedAccount } from '../../support/redis/stored-account.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { commandsOf } from '../../support/redis/watch-commands.ts';

const redis = testRedis();
const client = redis.connect();
const keys = createKeys(redis.prefix);
afterAll(() => redis.cleanup());

it('reads the ids of a status with twelve thousand filings in parts, each of them once, and none of another', async () => {
  const ids = Array.from({ length: 12_000 }, (_, i) => `f${String(i).padStart(6, '0')}`);
  const members = [
    ...ids.map((id) => memberOf('REJECTED', rankOf(1_000), id)),
    ...['PENDING', 'REJECTED_LATER'].map((status) => memberOf(status, rankOf(1_000), 'other')),
  ];
  await storedAccount(client, keys.account('acme')).addToIndex(members);
  const commands = await commandsOf(redis, async () =>
    expect(await createSnapshotStore(client, keys).idsIn('acme', 'REJECTED')).toEqual(ids),
  );
  const reads = commands.filter((line) => line.includes('zrangebylex'));
  // One more for answered rejections.
  expect(reads).toHaveLength(4);
  expect(reads.every((line) => line.endsWith('"LIMIT" "0" "5000"'))).toBe(true);
});
