import { afterAll, expect, it } from 'vitest';
import { memberOf, rankOf } from '../../../src/filings/detection/age-rank.ts';
import { createSnapshotStore } from '../../../src/filings/snapshot-store.ts';
import { createKeys } from '../../../src/redis/keys.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { watchCommands } from '../../support/redis/watch-commands.ts';

const redis = testRedis();
const client = redis.connect();
const keys = createKeys(redis.prefix);
afterAll(() => redis.cleanup());

it('reads the ids of a status with twelve thousand filings in parts, each of them once, and none of another', async () => {
  const { index } = keys.account('acme');
  const ids = Array.from({ length: 12_000 }, (_, i) => `f${String(i).padStart(6, '0')}`);
  const members = [
    ...ids.map((id) => memberOf('REJECTED', rankOf(1_000), id)),
    ...['PENDING', 'REJECTED_LATER'].map((status) => memberOf(status, rankOf(1_000), 'other')),
  ];
  await client.zadd(index, ...members.flatMap((member) => ['0', member]));
  using commands = await watchCommands(redis.url);

  expect(await createSnapshotStore(client, keys).idsIn('acme', 'REJECTED')).toEqual(ids);

  await client.echo(`${redis.prefix} end`);
  const reads = (await commands.until(`${redis.prefix} end`)).filter(
    (line) => line.includes('zrangebylex') && line.includes(index),
  );
  expect(reads).toHaveLength(3);
  expect(reads.every((line) => line.endsWith('"LIMIT" "0" "5000"'))).toBe(true);
});
