import closeWithGrace from 'close-with-grace';
import { pino } from 'pino';
import packageJson from '../package.json' with { type: 'json' };
import { loadConfig, readEnvironment } from './config.ts';
import { UnsafeRedisError } from './daemon-parts.ts';
import { startDaemon } from './daemon.ts';
import { createLogStream } from './log-stream.ts';
import { StoreFormatError } from './redis/store-watch.ts';

// sysexits.h: EX_CONFIG, EX_UNAVAILABLE.
const badConfiguration = 78;
const unavailable = 69;
const graceMs = 30_000;

const loaded = loadConfig(readEnvironment('.env'));
if (!loaded.ok) {
  process.stderr.write(`filing-webhooks cannot start, its configuration is not right:\n`);
  for (const problem of loaded.problems) process.stderr.write(`  - ${problem}\n`);
  process.stderr.write('docs/configuration.md describes every variable.\n');
  process.exit(badConfiguration);
}

const lines = createLogStream(process.stdout);
process.once('exit', lines.flush);
const logger = pino({ level: loaded.config.logLevel }, lines);
try {
  const daemon = await startDaemon(loaded.config, {
    version: packageJson.version,
    logger,
    random: Math.random,
  });
  closeWithGrace({ delay: graceMs, logger: false }, async ({ err, signal }) => {
    if (err !== undefined) logger.fatal({ error: err.message, stack: err.stack }, 'daemon.crashed');
    else logger.info({ signal }, 'daemon.stopping');
    await daemon[Symbol.asyncDispose]();
    logger.info('daemon.stopped');
  });
} catch (error) {
  logger.fatal({ error: error instanceof Error ? error.message : String(error) }, 'daemon.not_started');
  const isForOperators = error instanceof UnsafeRedisError || error instanceof StoreFormatError;
  process.exit(isForOperators ? badConfiguration : unavailable);
}
