import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import type { Logger } from 'pino';
import packageJson from '../../package.json' with { type: 'json' };
import type { Config, ConfigResult } from '../config/config.ts';
import { refuseWithdrawnAuthorities } from '../egress/withdrawn-authorities.ts';
import { RedisFileError } from '../redis/connection/tls-files.ts';
import { UnsafeRedisError } from './parts/open-store.ts';
import { startDaemon } from './daemon.ts';
import { createLogStream } from '../monitoring/log-stream.ts';
import { StoreFormatError } from '../redis/durability/store-watch.ts';
import { WrongKeyError } from './upkeep/secret-upkeep.ts';
import type { OwnStore } from '../standalone/own-store.ts';
import { StandaloneError } from '../standalone/standalone-error.ts';

// sysexits.h: EX_UNAVAILABLE, EX_CONFIG.
const exitCodes = { stopped: 0, crashed: 1, unavailable: 69, badConfiguration: 78 } as const;

// Milliseconds that a start has to end after a stop; then it is abandoned, as in a crash.
const startEndsMs = 1_500;

type Loaded = Extract<ConfigResult, { readonly ok: true }>;

/**
 * Runs the daemon until `stop` aborts; an uncaught exception aborts `stop` too. TLS trusts no authority that
 * was withdrawn, in the whole process. Its own store, if any, is
 * started before it and ended after it. Resolves to the exit code of the process, which is 0 also for a stop
 * before the start was over.
 */
export async function runDaemon(
  { config, misspelt, unheeded }: Loaded,
  stop: AbortController,
  ownStore: OwnStore | null,
): Promise<number> {
  const lines = createLogStream(process.stdout, (lost, reason) =>
    logger.warn({ lines: lost, reason }, 'log.lines_lost'),
  );
  process.once('exit', lines.flush);
  const logger = pino({ level: config.logLevel }, lines);
  for (const { name, meant } of misspelt) logger.warn({ variable: name, meant }, 'config.unknown_variable');
  for (const { name, heeded } of unheeded)
    logger.warn({ variable: name, heeded }, 'config.unheeded_variable');
  const exitCode = await runWith(config, stop, logger, lines.lost, ownStore);
  await lines.end();
  return exitCode;
}

async function runWith(
  config: Config,
  stop: AbortController,
  logger: Logger,
  linesLost: () => number,
  ownStore: OwnStore | null,
): Promise<number> {
  let exitCode: number = exitCodes.stopped;
  process.on('uncaughtException', ({ message, stack }) => {
    logger.fatal({ error: message, stack }, 'daemon.crashed');
    exitCode = exitCodes.crashed;
    stop.abort('crash');
  });
  const stopped = untilStopped(stop.signal, logger);
  refuseWithdrawnAuthorities();
  const { version } = packageJson;
  const deps = { version, logger, linesLost, random: Math.random, signal: stop.signal };
  try {
    await using _ = (await ownStore?.start(logger, stop.signal)) ?? null;
    const starting = stop.signal.aborted ? Promise.resolve(null) : startDaemon(config, deps);
    const daemon = await Promise.race([starting, stopped.then(() => delay(startEndsMs, null))]);
    if (daemon !== null) ownStore?.started(daemon.url);
    await stopped;
    await daemon?.[Symbol.asyncDispose]();
  } catch (error) {
    if (!stop.signal.aborted) return notStarted(error, logger);
  }
  logger.info('daemon.stopped');
  return exitCode;
}

async function untilStopped(signal: AbortSignal, logger: Logger): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
  logger.info({ signal: signal.reason as unknown }, 'daemon.stopping');
}

function notStarted(error: unknown, logger: Logger): number {
  logger.fatal({ error: error instanceof Error ? error.message : String(error) }, 'daemon.not_started');
  const isForOperators = [
    UnsafeRedisError,
    RedisFileError,
    StandaloneError,
    StoreFormatError,
    WrongKeyError,
  ].some((kind) => error instanceof kind);
  return isForOperators ? exitCodes.badConfiguration : exitCodes.unavailable;
}
