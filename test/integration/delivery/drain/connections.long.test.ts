import { Cluster, Redis } from 'ioredis';
import { once } from 'node:events';
import { afterAll, expect, test, vi } from 'vitest';
import { freePort } from '../../../../src/redis/server/redis-process.ts';
import { createRedisConnections, type RedisConnections } from '../../../../src/redis/connection/connect.ts';
import { createLatch, startReceiver } from '../../../support/receivers/receiver.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';
import { joinAsReplica, startCluster, startClusterNode } from '../../../support/redis/topologies.ts';
import { createHarness, type Harness } from '../drain-harness.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

/** The connections of a daemon, ready. */
async function connectTo(url: string): Promise<RedisConnections> {
  const connections = createRedisConnections(url, {
    connectionName: 'fw-test',
    onStateChange: () => undefined,
  });
  await connections.untilReady(5_000);
  return connections;
}

/**
 * Drains three events, one of which is in flight from before `cut` until after it; none may be sent twice.
 */
async function expectOneDrain(harness: Harness, cut: () => Promise<void>): Promise<void> {
  const latch = createLatch();
  await using receiver = await startReceiver(async ({ filingId }) => {
    if (filingId === 'held') await latch.opened;
    return 200;
  });
  const id = await harness.subscribe(receiver.url);
  await harness.append('held', 'a');
  const { deliveries } = harness.stores;
  const { settle } = deliveries;
  let epoch: string | null = null;
  const spy = vi.spyOn(deliveries, 'settle').mockImplementation(async (...args) => {
    const settled = await settle(...args);
    if (epoch === null && receiver.accepted.length === 1) {
      epoch = await harness.stored.epoch();
      await cut();
      await harness.append('b');
      latch.open();
    }
    return settled;
  });
  expect(await harness.drain(id)).toEqual({ wakeAt: null });
  spy.mockRestore();
  expect(receiver.received.map(({ filingId }) => filingId)).toEqual(['held', 'a', 'b']);
  expect(epoch).not.toBe(null);
  expect(await harness.stored.epoch()).toBe(epoch);
  expect(await harness.state(id)).toMatchObject({ cursor: 3, done: '', parked: 0 });
}

test('a drain whose connection to Redis is closed between two settles goes on over the new one', async () => {
  await using connections = await connectTo(redis.url);
  const client = connections.command();
  await using harness = await createHarness(redis, { redis: client });
  await expectOneDrain(harness, async () => {
    const [back, clientId] = [once(client, 'ready'), await client.client('ID')];
    await redis.connect().client('KILL', 'ID', clientId);
    await back;
    expect(await client.client('ID')).not.toBe(clientId);
  });
});

test('in a cluster, a closed connection to a replica is no reason to repeat what is in flight', async () => {
  await using cluster = await startCluster();
  const primaries = cluster.nodes.map(({ url }) => new Redis(url));
  await using replica = await startClusterNode(await freePort(), []);
  const ofReplica = new Redis(replica.url);
  const [primary] = primaries;
  if (primary === undefined) throw new Error('no primary');
  await joinAsReplica(ofReplica, primary);
  const isListedBy = (node: Redis) =>
    expect
      .poll(async () => JSON.stringify(await node.cluster('SLOTS')), { timeout: 20_000 })
      .toContain(String(replica.port));
  await Promise.all(primaries.map(isListedBy));
  await using connections = await connectTo(cluster.url);
  const client = connections.command();
  if (!(client instanceof Cluster)) throw new Error('no cluster');
  await using harness = await createHarness(redis, { redis: client });
  await expectOneDrain(harness, async () => {
    const [known] = client.nodes('slave');
    if (known === undefined) throw new Error('the client knows no replica');
    const closed = once(known, 'close');
    await expect.poll(() => known.status).toBe('ready');
    await ofReplica.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    await closed;
  });
  for (const each of [...primaries, ofReplica]) each.disconnect();
}, 60_000);

test('while the keys of an account move to another node of a cluster, nothing is written for it on either', async () => {
  await using cluster = await startCluster();
  const nodes = cluster.nodes.map(({ url, port }) => ({ port, client: new Redis(url) }));
  await using connections = await connectTo(cluster.url);
  await using receiver = await startReceiver(() => 200);
  await using harness = await createHarness(redis, { redis: connections.command() });
  const id = await harness.subscribe(receiver.url);
  await harness.append('a');
  await harness.drain(id);
  await harness.append('b', 'c');

  await connections.command().hset(`${redis.prefix}:{${harness.account}}:polling`, 'generation', '');
  const held = await Promise.all(nodes.map(({ client }) => client.keys(`*{${harness.account}}*`)));
  const owner = held.findIndex((keys) => keys.length > 0);
  const [from, to] = [nodes[owner], nodes[(owner + 1) % nodes.length]];
  if (from === undefined || to === undefined) throw new Error('no node has the account');
  const slot = await from.client.cluster('KEYSLOT', `{${harness.account}}`);
  const [fromId, toId] = await Promise.all([from, to].map(({ client }) => client.cluster('MYID')));
  const move = (keys: readonly string[]) =>
    from.client.call('MIGRATE', '127.0.0.1', to.port, '', 0, 5_000, 'KEYS', ...keys);
  await to.client.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', String(fromId));
  await from.client.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', String(toId));
  // The keys that the scripts name, without those of the subscription.
  const keys = held[owner] ?? [];
  const isOwn = (key: string) => key.includes(':sub:');
  await move(keys.filter((key) => !isOwn(key)));
  await expect(harness.drain(id)).rejects.toThrow(/TRYAGAIN|redirections/);
  expect(await to.client.keys('*:sub:*')).toEqual([]);
  await move(keys.filter(isOwn));
  for (const { client } of [to, from, ...nodes])
    await client.call('CLUSTER', 'SETSLOT', slot, 'NODE', String(toId));
  expect(await harness.drain(id)).toEqual({ wakeAt: null });
  expect(receiver.received.map(({ filingId }) => filingId)).toEqual(['a', 'b', 'c']);
  for (const { client } of nodes) client.disconnect();
}, 60_000);
