import { loadConfig, type ConfigResult } from './config/config.ts';
import { readEnvironment, UnreadableFileError } from './config/environment.ts';
import { stopOnSignals } from './daemon/stop-on-signals.ts';

// sysexits.h: EX_CONFIG.
const badConfiguration = 78;

const loaded = load();
if (!loaded.ok) {
  process.stderr.write(`filing-webhooks cannot start, its configuration is not right:\n`);
  for (const problem of loaded.problems) process.stderr.write(`  - ${problem}\n`);
  process.stderr.write('docs/configuration.md describes every variable.\n');
  process.exit(badConfiguration);
}
const stop = stopOnSignals();
// The rest takes a second to load, on a busy machine several; what is wrong with the configuration is said
// before.
const { runDaemon } = await import('./daemon/run-daemon.ts');
process.exit(await runDaemon(loaded, stop));

// Without the file it is not known what else is wrong: the variables that lack may be in it.
function load(): ConfigResult {
  try {
    return loadConfig(readEnvironment('.env'));
  } catch (error) {
    if (!(error instanceof UnreadableFileError)) throw error;
    return { ok: false, problems: error.message.split('\n') };
  }
}
