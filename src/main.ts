import { loadConfig, type ConfigResult } from './config/config.ts';
import { complete, readEnvironment, textOf, UnreadableFileError } from './config/environment.ts';
import { stopOnSignals } from './daemon/stop-on-signals.ts';

// sysexits.h: EX_CONFIG.
const badConfiguration = 78;

const env = readVariables();
const isAlone = textOf(env, 'REDIS_URL') === null;
// Everything else that is wrong is said before anything is made or started.
const stated = accepted(loadConfig(isAlone ? complete(env, placeholders()) : env));
const stop = stopOnSignals();
// The rest takes a second to load, on a busy machine several; what is wrong with the configuration is said
// before.
const ownStore = isAlone ? await openStore(stated.config.dataDir) : null;
const loaded = ownStore === null ? stated : accepted(loadConfig(ownStore.environment));
const { runDaemon } = await import('./daemon/run-daemon.ts');
process.exit(await runDaemon(loaded, stop, ownStore));

// Without the file it is not known what else is wrong: the variables that lack may be in it.
function readVariables() {
  try {
    return readEnvironment('.env');
  } catch (error) {
    if (!(error instanceof UnreadableFileError)) throw error;
    return refuse(error.message.split('\n'));
  }
}

// The variables that a data folder brings.
function placeholders() {
  return {
    REDIS_URL: 'redis://127.0.0.1',
    API_TOKEN: '-'.repeat(24),
    ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'),
  };
}

async function openStore(dataDir: string) {
  const { openOwnStore } = await import('./standalone/own-store.ts');
  const { StandaloneError } = await import('./standalone/standalone-error.ts');
  try {
    return await openOwnStore(env, dataDir);
  } catch (error) {
    if (!(error instanceof StandaloneError)) throw error;
    process.stderr.write(`filing-webhooks cannot start: ${error.message}\n`);
    process.exit(badConfiguration);
  }
}

function accepted(result: ConfigResult) {
  return result.ok ? result : refuse(result.problems);
}

function refuse(problems: readonly string[]): never {
  process.stderr.write(`filing-webhooks cannot start, its configuration is not right:\n`);
  for (const problem of problems) process.stderr.write(`  - ${problem}\n`);
  process.stderr.write('docs/configuration.md describes every variable.\n');
  process.exit(badConfiguration);
}
