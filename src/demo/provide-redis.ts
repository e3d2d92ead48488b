import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findServer, installServer, packagesWithServer } from '../redis/server/find-server.ts';
import { durableArgs, startOnFreePort } from '../redis/server/redis-process.ts';

/** A Redis to work with until `close`, which removes everything that was started for it and nothing else. */
export type ProvidedRedis = AsyncDisposable & {
  readonly url: string;
  /** For people, such as `private /usr/bin/redis-server on port 40123`; never contains a password. */
  readonly describe: string;
  close(): Promise<void>;
};

/** The options of `provideRedis`. */
export type ProvideRedisOptions = {
  /**
   * `REDIS_URL` is used when it is set and not empty; redis-server and valkey-server are searched in `PATH`;
   * `REDIS_IMAGE` names another image for the container.
   */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Called with one line before each step. */
  readonly log: (line: string) => void;
  /** Whether a slow emulation in this process may be the last resort; right for a demo, wrong for tests. */
  readonly allowEmulation: boolean;
  /** The variable by which users set the address, for the error and log lines. Default `REDIS_URL`. */
  readonly variable?: string;
  /** Default `everysec`; `always` also survives a power cut. */
  readonly appendfsync?: 'always' | 'everysec';
};

type Step = (options: ProvideRedisOptions) => Promise<ProvidedRedis | null>;

/** The image that docker-compose.yml uses; `REDIS_IMAGE` replaces both. */
const containerImage = 'valkey/valkey:8-alpine';

/**
 * Finds or starts a Redis: the address given, else redis-server or valkey-server from PATH, else a container,
 * else (root on Debian) the package redis-server, else, if allowed, an emulation. A step that fails is logged
 * and the next is tried; if none is left, the error says how to get a Redis.
 */
export async function provideRedis(options: ProvideRedisOptions): Promise<ProvidedRedis> {
  for (const step of [useGiven, startFromPath, startContainer, installOnDebian, startEmulation]) {
    // A step is tried only when the one before it found nothing.
    const redis = await attempt(step, options);
    if (redis !== null) return redis;
  }
  throw new Error(howToGetRedis(options.variable ?? 'REDIS_URL'));
}

async function attempt(step: Step, options: ProvideRedisOptions): Promise<ProvidedRedis | null> {
  try {
    return await step(options);
  } catch (error) {
    options.log(`Redis: that did not work (${error instanceof Error ? error.message : String(error)})`);
    return null;
  }
}

const useGiven: Step = async ({ env, log, variable = 'REDIS_URL' }) => {
  const url = env['REDIS_URL'];
  if (url === undefined || url === '') return null;
  log(`Redis: using the one that ${variable} names`);
  return provided(url, `the Redis that ${variable} names`, async () => undefined);
};

const startFromPath: Step = async ({ env, log, appendfsync = 'everysec' }) => {
  const executable = findServer(env);
  if (executable === null) return null;
  log(`Redis: starting a private ${executable} in a temporary folder`);
  const directory = await mkdtemp(join(tmpdir(), 'filing-webhooks-redis-'));
  const remove = (): Promise<void> => rm(directory, { recursive: true, force: true });
  const args = durableArgs(appendfsync);
  const redis = await startOnFreePort({ executable, directory, args }).catch(async (error: unknown) => {
    await remove();
    throw error;
  });
  return provided(
    `redis://127.0.0.1:${redis.port}`,
    `private ${executable} on port ${redis.port}`,
    async () => {
      await redis.end('SIGKILL');
      await remove();
    },
  );
};

const startContainer: Step = async ({ env, log, appendfsync = 'everysec' }) => {
  const [testcontainers, redis] = await Promise.all([
    import('testcontainers').catch(() => null),
    import('@testcontainers/redis').catch(() => null),
  ]);
  if (testcontainers === null || redis === null) return null;
  const runtime = await testcontainers.getContainerRuntimeClient().catch(() => null);
  if (runtime === null) return null;
  const image = env['REDIS_IMAGE'] || containerImage;
  log(`Redis: no redis-server in PATH; starting a container of ${image}`);
  const container = await new redis.RedisContainer(image)
    .withCommand(['valkey-server', ...durableArgs(appendfsync)])
    // Its port may be open to other machines, too.
    .withPassword(randomBytes(24).toString('hex'))
    .start();
  return provided(container.getConnectionUrl(), `container of ${image}`, async () => {
    await container.stop();
  });
};

const installOnDebian: Step = async (options) => {
  const { env, log } = options;
  const installed = await installServer(env, () =>
    log(
      'Redis: no redis-server and no container runtime; installing Debian package redis-server (its service stays off)',
    ),
  );
  return installed ? await startFromPath(options) : null;
};

const startEmulation: Step = async ({ log, allowEmulation }) => {
  if (!allowEmulation) return null;
  const emulator = await import('js-redis-server').catch(() => null);
  if (emulator === null) return null;
  log(
    'Redis: none to be had; emulating one in this process (slow, nothing is kept: for looking around only)',
  );
  const server = await emulator.createRedisMock();
  return provided(`redis://${server.host}:${server.port}`, 'emulated in this process', () => server.close());
};

function provided(url: string, describe: string, release: () => Promise<void>): ProvidedRedis {
  let closed: Promise<void> | null = null;
  const close = (): Promise<void> => (closed ??= release());
  return { url, describe, close, [Symbol.asyncDispose]: close };
}

function howToGetRedis(variable: string): string {
  return [
    'No Redis was found and none could be started. Any of these will do:',
    ...packagesWithServer,
    `  Docker             docker run -d -p 127.0.0.1:6379:6379 ${containerImage} valkey-server --appendonly yes --maxmemory-policy noeviction`,
    `  elsewhere          set ${variable}, for example ${variable}=redis://127.0.0.1:6379`,
  ].join('\n');
}
