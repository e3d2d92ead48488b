import { createRedisConnections, type RedisClient } from '../../src/redis/connection/connect.ts';
import { createKeys } from '../../src/redis/keys.ts';
import { committing } from '../../src/redis/scripts.ts';
import { appendScript } from '../support/redis/append-script.ts';
import { startPrivateRedis } from '../support/redis/test-redis.ts';
import { median, print } from './support/statistics.ts';

const commitsPerRun = 3_000;
const runs = 5;
const event = {
  id: 'evt_bench',
  type: 'ping',
  filingId: '',
  state: '',
  status: '',
  body: 'a'.repeat(1_000),
} as const;

/**
 * What `REDIS_WAIT_REPLICAS` costs: appends to the log, one after the other and fifty at once, by a client
 * that waits for no replica and by one that waits for the only one, alternating. Medians; the replica is on
 * the same machine, so the network between the two comes on top.
 */
export async function run(): Promise<void> {
  await using primary = await startPrivateRedis();
  await using _ = await startPrivateRedis({
    args: ['--replicaof', '127.0.0.1', String(primary.port)],
  });
  await using without = open(primary.url, 0);
  await using waiting = open(primary.url, 1);
  await untilFollowed(waiting.redis);
  for (const atOnce of [1, 50]) {
    const rates = { without: [] as number[], waiting: [] as number[] };
    for (let i = 0; i <= runs; i += 1) {
      // One after the other: they would disturb each other.
      // oxlint-disable no-await-in-loop
      const free = await append(without, atOnce);
      const waited = await append(waiting, atOnce);
      // oxlint-enable no-await-in-loop
      if (i === 0) continue;
      rates.without.push(free);
      rates.waiting.push(waited);
    }
    print(`commits, ${atOnce} at once`, {
      '0 replicas/s': median(rates.without),
      '1 replica/s': median(rates.waiting),
      'ms a commit, 0': (1_000 * atOnce) / median(rates.without),
      'ms a commit, 1': (1_000 * atOnce) / median(rates.waiting),
      missing: waiting.missing(),
    });
  }
}

// The first synchronisation takes seconds, more than a client gives a reply.
async function untilFollowed(redis: RedisClient): Promise<void> {
  // oxlint-disable-next-line no-await-in-loop
  while ((await redis.call('WAIT', 1, 500)) === 0);
}

function open(url: string, replicas: number) {
  let missing = 0;
  const connections = createRedisConnections(url, {
    connectionName: 'bench',
    onStateChange: () => undefined,
    replicaWait: { replicas, onUnreplicated: () => (missing += 1), onChange: () => undefined },
  });
  const redis = connections.command();
  return {
    redis,
    missing: () => missing,
    [Symbol.asyncDispose]: () => connections.close(),
  };
}

const commitScript = committing(appendScript);
const { head, events, bodies, filingEvents } = createKeys('bench').account('bench');

async function commit(redis: RedisClient): Promise<void> {
  const { id, type, filingId, state, status, body } = event;
  await commitScript.run(
    redis,
    [head, events, bodies, filingEvents],
    [id, type, filingId, state, status, Date.now(), body],
  );
}

async function append({ redis }: ReturnType<typeof open>, atOnce: number): Promise<number> {
  const startedAt = performance.now();
  const worker = async () => {
    for (let i = 0; i < commitsPerRun / atOnce; i += 1) await commit(redis);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return (commitsPerRun / (performance.now() - startedAt)) * 1_000;
}
