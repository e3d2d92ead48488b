import { until, type Member } from './replication.ts';

const keysAtOnce = 10;
const timeoutMs = 5_000;

/**
 * Moves a slot with its keys from one primary to another while both serve it, as `redis-cli --cluster
 * reshard` does.
 */
export async function moveSlot(
  slot: number,
  from: Member,
  to: Member,
  primaries: readonly Member[],
): Promise<void> {
  const [fromId, toId] = await Promise.all([from, to].map(({ client }) => client.cluster('MYID')));
  await to.client.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(fromId));
  await from.client.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(toId));
  await until('a slot is empty', async () => {
    const keys = (await from.client.call('CLUSTER', 'GETKEYSINSLOT', slot, keysAtOnce)) as string[];
    if (keys.length === 0) return true;
    await from.client.call('MIGRATE', '127.0.0.1', to.redis.port, '', 0, timeoutMs, 'KEYS', ...keys);
    return false;
  });
  for (const { client } of [to, from, ...primaries])
    await client.call('CLUSTER', 'SETSLOT', slot, 'NODE', String(toId));
}
