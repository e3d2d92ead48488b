import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createRedisConnections } from '../../../../src/redis/connection/connect.ts';
import { explainMissing, MissingRedisError } from '../../../../src/redis/connection/missing-redis.ts';
import { startPrivateRedis, type PrivateRedis } from '../../../support/redis/test-redis.ts';
import { writeSentinel } from '../../../support/redis/topologies.ts';

let folder: string;
let master: PrivateRedis;
let sentinel: PrivateRedis;
let place: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'filing-webhooks-sentinel-'));
  master = await startPrivateRedis({ args: ['--requirepass', 'of-the-servers'] });
  const executable = await writeSentinel(folder, { masterPort: master.port, quorum: 1, downAfterMs: 60_000 });
  const watcher = 'on >of-the-user &* +sentinel|get-master-addr-by-name +sentinel|sentinels +subscribe +ping';
  const args = `--requirepass of-the-sentinels --user watcher ${watcher} --user deaf on >of-the-user +ping`;
  sentinel = await startPrivateRedis({ executable, args: args.split(' ') });
  place = `127.0.0.1:${sentinel.port}/main`;
});

afterAll(async () => {
  for (const server of [sentinel, master]) await server.close();
  await rm(folder, { recursive: true });
});

/** PONG, or the explanation of why the master is not found. */
async function ping(url: string): Promise<string> {
  await using connections = createRedisConnections(url, {
    connectionName: 'fw-test',
    onStateChange: () => undefined,
  });
  try {
    await connections.untilReady(3_000);
    return await connections.command().ping();
  } catch (error) {
    if (error instanceof MissingRedisError) return explainMissing(error.reason);
    throw error;
  }
}

const access = 'redis+sentinel://:of-the-servers@';

test.each([
  ['a password', '?sentinel-password=of-the-sentinels'],
  ['a user of few rights', '?sentinel-username=watcher&sentinel-password=of-the-user'],
])('sentinels with %s of their own name the master, which has another password', async (_, query) => {
  expect(await ping(`${access}${place}${query}`)).toBe('PONG');
});

test.each([
  ['that want a password', '', 'want a password of their own'],
  ['that refuse a password', '?sentinel-password=another', 'refuse sentinel-username or sentinel-password'],
  [
    'that refuse their user',
    '?sentinel-username=deaf&sentinel-password=of-the-user',
    'may not ask for the master',
  ],
])('sentinels %s are told from the servers', async (_, query, meaning) => {
  expect(await ping(`${access}${place}${query}`)).toContain(meaning);
});

test('a master that the sentinels do not know is said to be so, and how to find its name', async () => {
  const url = `${access}${place}-of-another?sentinel-password=of-the-sentinels`;
  expect(await ping(url)).toMatch(/no master of the name.*SENTINEL MASTERS/);
});
