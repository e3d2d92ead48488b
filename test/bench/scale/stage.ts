import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../../../src/redis/server/redis-process.ts';
import type { Parts } from '../../../src/daemon/parts.ts';
import { createProduct, operatorToken, testConfig } from '../../support/daemon/product.ts';
import { usageOf } from '../../support/daemon/process-usage.ts';
import { startOptions } from '../../support/daemon/start-options.ts';
import { openApi, type ApiCaller } from '../../support/api/api-caller.ts';
import { startPrivateRedis, type PrivateRedis } from '../support/private-redis.ts';
import { startReceiverProcess, type ReceiverProcess } from '../support/receiver-process.ts';

/** A Redis, a receiver and the product's parts to fill the Redis with; daemons join and leave. */
export interface Stage extends AsyncDisposable {
  readonly redis: PrivateRedis;
  readonly receiver: ReceiverProcess;
  /** Stores and queues over the same Redis, under the daemons' prefix and key. */
  readonly parts: Parts;
  /** Starts a daemon; resolves when it is ready. Its log goes nowhere, at its own level. */
  startDaemon(environment?: Readonly<Record<string, string>>): Promise<StageDaemon>;
  /** Bytes that Redis has in use. */
  redisBytes(): Promise<number>;
}

/** A daemon on a stage. */
export interface StageDaemon extends AsyncDisposable {
  readonly pid: number;
  /** Of the API, where the daemon has that role. */
  readonly url: string;
  readonly monitoringUrl: string;
  readonly api: ApiCaller;
  /** Sum of a metric's series whose names and labels begin with `name`. */
  metric(name: string): Promise<number>;
}

const main = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const prefix = 'fw';

/** Starts a stage; `durability` is Redis's. */
export async function startStage(durability: 'everysec' | 'in memory'): Promise<Stage> {
  await using stack = new AsyncDisposableStack();
  const redis = stack.use(await startPrivateRedis(durability));
  // Its commands are timed: no other program may interrupt one. Without the right to that, times are upper bounds.
  spawnSync('chrt', ['--fifo', '--reset-on-fork', '--pid', '1', String(redis.pid)]);
  const receiver = stack.use(await startReceiverProcess());
  const product = stack.use(await createProduct(testConfig(prefix, redis.url), {}));
  const all = stack.move();
  return {
    redis,
    receiver,
    parts: product.parts,
    async startDaemon(environment = {}) {
      const daemon = await startDaemon(redis.url, environment);
      all.use(daemon);
      return daemon;
    },
    async redisBytes() {
      return Number(/used_memory:(\d+)/.exec(await product.parts.redis.info('memory'))?.[1]);
    },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

async function startDaemon(
  redisUrl: string,
  environment: Readonly<Record<string, string>>,
): Promise<StageDaemon> {
  const [port, metricsPort] = [await freePort(), await freePort()];
  const nowhere = openSync('/dev/null', 'w');
  const child = spawn(process.execPath, [...startOptions, main], {
    cwd: fileURLToPath(new URL('.', import.meta.url)), // no .env there
    env: {
      PATH: process.env['PATH'],
      PORT: String(port),
      METRICS_PORT: String(metricsPort),
      API_TOKEN: operatorToken,
      ENCRYPTION_KEY: `test:${Buffer.alloc(32, 7).toString('base64')}`,
      REDIS_URL: redisUrl,
      REDIS_PREFIX: prefix,
      REDIS_UNSAFE: 'true',
      DELIVERY_ALLOW_CIDRS: '127.0.0.0/8',
      DELIVERY_ALLOW_HTTP: 'true',
      ...environment,
    },
    stdio: ['ignore', nowhere, 'inherit'],
  });
  const monitoringUrl = `http://127.0.0.1:${metricsPort}`;
  while (!(await isReady(monitoringUrl))) {
    if (child.exitCode !== null) throw new Error(`the daemon ended with ${child.exitCode}`);
    await sleep(50);
  }
  return {
    pid: child.pid ?? 0,
    url: `http://127.0.0.1:${port}`,
    monitoringUrl,
    api: openApi(`http://127.0.0.1:${port}`, operatorToken),
    async metric(name) {
      const text = await (await fetch(`${monitoringUrl}/metrics`)).text();
      const values = text.split('\n').filter((line) => line.startsWith(name));
      return values.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0);
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** The operator's token, for `fetch`. */
export const authorized = { headers: { authorization: `Bearer ${operatorToken}` } };

// A Redis without persistence makes it answer 503 with that one reason.
async function isReady(url: string): Promise<boolean> {
  const answer = await fetch(`${url}/health/ready`).catch(() => null);
  if (answer === null) return false;
  const text = await answer.text();
  return answer.ok || (answer.status === 503 && /redis_unsafe|unsafe|append/i.test(text));
}

/** Resolves when a key is gone and freed: Redis frees large ones beside its other work. */
export async function untilFreed({ parts: { redis } }: Stage, key: string): Promise<void> {
  const pending = async () => /lazyfree_pending_objects:(\d+)/.exec(await redis.info('memory'))?.[1];
  while ((await redis.exists(key)) === 1 || (await pending()) !== '0') await sleep(50);
}

/** Processor seconds of each process while something is done. */
export async function cpuOf<Name extends string>(
  pids: Readonly<Record<Name, number>>,
  work: () => Promise<unknown>,
): Promise<Record<Name, number> & { readonly seconds: number }> {
  const names = Object.keys(pids) as Name[];
  const read = () => Promise.all(names.map(async (name) => (await usageOf(pids[name])).cpuSeconds));
  const before = await read();
  const startedAt = performance.now();
  await work();
  const seconds = (performance.now() - startedAt) / 1_000;
  const after = await read();
  const used = names.map((name, i) => [name, (after[i] ?? 0) - (before[i] ?? 0)]);
  return { ...(Object.fromEntries(used) as Record<Name, number>), seconds };
}
