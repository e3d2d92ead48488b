import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import packageJson from '../../package.json' with { type: 'json' };
import { loadConfig } from '../config/config.ts';
import { startDaemon } from '../daemon/daemon.ts';
import { createRedisConnections } from '../redis/connection/connect.ts';
import { isFree } from '../redis/server/redis-process.ts';
import { escapeGlob, scanKeys } from '../redis/scan-keys.ts';

/** The daemon of the demo. Disposing it stops it and removes every key that it wrote. */
export interface DemoDaemon extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  /** The prefix of every key. */
  readonly prefix: string;
}

export interface DemoDaemonOptions {
  readonly redisUrl: string;
  /** Base address of the sandbox, without `/v1`. */
  readonly sandboxUrl: string;
  readonly partnerKey: string;
  /** Receives all log lines of the daemon; errors go to stderr as well. */
  readonly logFile: string;
}

const preferredPort = 3000;

/**
 * The daemon as `npm start` would run it, in this process, under a key prefix of its own. Rejects when it
 * cannot start.
 */
export async function startDemoDaemon(options: DemoDaemonOptions): Promise<DemoDaemon> {
  const token = randomBytes(24).toString('hex');
  const prefix = `demo-${randomBytes(4).toString('hex')}`;
  const loaded = loadConfig({ ...environment(options, token, prefix), PORT: await choosePort() });
  if (!loaded.ok) throw new Error(loaded.problems.join('; '));
  const remove = (): Promise<void> => removeKeys(options.redisUrl, prefix);
  const daemon = await startDaemon(loaded.config, {
    version: packageJson.version,
    logger: createLogger(options.logFile),
    random: Math.random,
  }).catch(async (error: unknown) => {
    await remove().catch(() => undefined);
    throw error;
  });
  return {
    url: daemon.url ?? '',
    token,
    prefix,
    async [Symbol.asyncDispose]() {
      await daemon[Symbol.asyncDispose]();
      await remove();
    },
  };
}

function environment({ redisUrl, sandboxUrl, partnerKey }: DemoDaemonOptions, token: string, prefix: string) {
  return {
    REDIS_URL: redisUrl,
    REDIS_PREFIX: prefix,
    // The data of a demo need not survive: any Redis will do.
    REDIS_UNSAFE: 'true',
    API_TOKEN: token,
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    PARTNER_BASE_URL: `${sandboxUrl}/v1`,
    PARTNER_KEY: partnerKey,
    POLL_INTERVAL_MS: '500',
    SWEEP_INTERVAL_MS: '60000',
    DELIVERY_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
    DELIVERY_ALLOW_HTTP: 'true',
  };
}

function createLogger(file: string) {
  const toFile = pino.destination({ dest: file, sync: true });
  return pino({}, pino.multistream([{ stream: toFile }, { level: 'error', stream: process.stderr }]));
}

// The default port, so that the addresses in the documentation work, or any free port if it is taken.
async function choosePort(): Promise<string> {
  return (await isFree(preferredPort)) ? String(preferredPort) : '0';
}

async function removeKeys(redisUrl: string, prefix: string): Promise<void> {
  await using connections = createRedisConnections(redisUrl, {
    connectionName: 'filing-webhooks-demo',
    onStateChange: () => undefined,
  });
  for await (const { node, keys } of scanKeys(connections.command(), `${escapeGlob(prefix)}:*`)) {
    await Promise.all(keys.map((key) => node.unlink(key)));
  }
}
