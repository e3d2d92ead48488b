import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { inject } from 'vitest';
import { findExecutable } from '../../../src/redis/server/find-server.ts';
import { durableArgs, startOnFreePort, startRedisProcess } from '../../../src/redis/server/redis-process.ts';

/** The run's Redis as one test file sees it. */
export type TestRedis = {
  readonly url: string;
  /** Unique to this call; a valid REDIS_PREFIX. Every key of the test must contain it. */
  readonly prefix: string;
  /** A new client, closed by `cleanup`. */
  connect(): Redis;
  /** Removes the keys that contain `prefix` (found by SCAN) and closes the clients. */
  cleanup(): Promise<void>;
};

/** A share of the run's Redis under a prefix of its own; call once per file and `cleanup` in afterAll. */
export function testRedis(): TestRedis {
  return shareOf(inject('redisUrl'));
}

/** The same of another Redis. */
export function shareOf(url: string): TestRedis {
  const prefix = `t${randomBytes(6).toString('hex')}`;
  const clients: Redis[] = [];
  const connect = (): Redis => {
    const client = new Redis(url, { maxRetriesPerRequest: 3 });
    clients.push(client);
    return client;
  };
  const cleanup = async (): Promise<void> => {
    await removeKeys(connect(), prefix);
    for (const client of clients) client.disconnect();
  };
  return { url, prefix, connect, cleanup };
}

async function removeKeys(redis: Redis, prefix: string): Promise<void> {
  let cursor = '0';
  do {
    // Each page's cursor comes from the page before.
    const [next, keys] = await redis.scan(cursor, 'MATCH', `*${prefix}*`, 'COUNT', 1000);
    if (keys.length > 0) await redis.unlink(keys);
    cursor = next;
  } while (cursor !== '0');
}

/** What a private Redis of a test starts with. */
export type PrivateRedisOptions = {
  /** Extra redis-server arguments, e.g. `['--appendonly', 'no']`; they win over the durable defaults. */
  readonly args?: readonly string[];
  /** File to run in place of redis-server or valkey-server from PATH. */
  readonly executable?: string;
  /** Default `everysec`. */
  readonly appendfsync?: 'always' | 'everysec';
};

/**
 * A Redis that one test owns, for tests that stop it under the daemon. Data and port survive `kill` and
 * `stop`.
 */
export type PrivateRedis = AsyncDisposable & {
  readonly url: string;
  readonly port: number;
  /** The folder of its append-only file, e.g. for cutting the file's tail while it is stopped. */
  readonly directory: string;
  /** SIGKILL, as a crash would. */
  kill(): Promise<void>;
  /** E.g. SIGSTOP: it stalls, with all its connections, until SIGCONT or `kill`. */
  signal(signal: NodeJS.Signals): void;
  /** SIGTERM: an orderly end. */
  stop(): Promise<void>;
  /**
   * Starts it again on the same port and data (killing it first if it still runs); `args` are added for this
   * start only.
   */
  restart(args?: readonly string[]): Promise<void>;
  /** Ends it and removes its folder. */
  close(): Promise<void>;
};

/** Starts a Redis of its own; skips nothing: without redis-server or valkey-server in PATH it throws. */
export async function startPrivateRedis(options: PrivateRedisOptions = {}): Promise<PrivateRedis> {
  const path = process.env['PATH'] ?? '';
  const executable = options.executable ?? findExecutable(['redis-server', 'valkey-server'], path);
  if (executable === null) throw new Error('this test needs redis-server or valkey-server in PATH');
  const directory = await mkdtemp(join(tmpdir(), 'filing-webhooks-test-redis-'));
  const args = [...durableArgs(options.appendfsync ?? 'everysec'), ...(options.args ?? [])];
  const remove = (): Promise<void> => rm(directory, { recursive: true, force: true });
  let running = await startOnFreePort({ executable, directory, args }).catch(async (error: unknown) => {
    await remove();
    throw error;
  });
  const { port } = running;
  const kill = (): Promise<void> => running.end('SIGKILL');
  const close = async (): Promise<void> => {
    await kill();
    await remove();
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    port,
    directory,
    kill,
    signal: (signal) => void process.kill(running.pid, signal),
    stop: () => running.end('SIGTERM'),
    async restart(extra = []) {
      await kill();
      running = await startRedisProcess({ executable, directory, port, args: [...args, ...extra] });
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
