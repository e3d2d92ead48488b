import { join, resolve } from 'node:path';
import { addAbortSignal } from 'node:stream';
import { createInterface } from 'node:readline/promises';
import { buffer } from 'node:stream/consumers';
import {
  complete,
  readEnvFile,
  readEnvironment,
  textOf,
  UnreadableFileError,
  type Environment,
} from '../config/environment.ts';
import { stopOnSignalsOrBrokenPipe } from '../daemon/stop-on-signals.ts';
import type { Context } from './command.ts';
import { commands } from './commands.ts';
import { runCommand } from './run-command.ts';

const installation = join(import.meta.dirname, '../..');
const stop = stopOnSignalsOrBrokenPipe();
const isWatched = process.stderr.isTTY;
let shown = false;

function endProgress(): void {
  if (shown) process.stderr.write('\n');
  shown = false;
}

// Another user than the daemon's may not read its secrets; many commands need none.
function environmentWith(file: string): Environment {
  try {
    return readEnvironment(file);
  } catch (error) {
    if (!(error instanceof UnreadableFileError)) throw error;
    process.stderr.write(`filing-webhooks: ${error.message}; only the environment counts now.\n`);
    return process.env;
  }
}

// The token of a daemon that keeps everything in a folder: the one of this installation, or of an installed
// package, which has none, the one that the user stands in.
function withToken(env: Environment): Environment {
  const folder = env['DATA_DIR'] || 'data';
  const token = tokenIn(resolve(installation, folder)) ?? tokenIn(resolve(folder));
  return token === null ? env : complete(env, { API_TOKEN: token });
}

// Null if there is none, or this user may not read it.
function tokenIn(folder: string): string | null {
  try {
    return textOf(readEnvFile(join(folder, 'secrets.env')), 'API_TOKEN');
  } catch (error) {
    if (error instanceof UnreadableFileError) return null;
    throw error;
  }
}

const context: Context = {
  // The folder of this installation, not the one that the user stands in: a foreign `.env` may lie there,
  // and would have the token of the environment sent to an address of its own.
  env: withToken(environmentWith(join(installation, '.env'))),
  signal: stop.signal,
  out(text) {
    endProgress();
    process.stdout.write(`${text}\n`);
  },
  note(text) {
    endProgress();
    process.stderr.write(`${text}\n`);
  },
  progress(text) {
    if (!isWatched) return;
    process.stderr.write(`\r\u001b[K${text}`);
    shown = true;
  },
  readInput() {
    if (process.stdin.isTTY) process.stderr.write('Reading the body from the terminal; Ctrl-D ends it.\n');
    return buffer(addAbortSignal(stop.signal, process.stdin));
  },
  async confirm(question) {
    if (!process.stdin.isTTY || !isWatched) return null;
    endProgress();
    const terminal = createInterface({ input: process.stdin, output: process.stderr });
    try {
      return /^y(es)?$/i.test(
        (await terminal.question(`${question} [y/N] `, { signal: stop.signal })).trim(),
      );
    } finally {
      terminal.close();
    }
  },
};

process.exitCode = await runCommand(process.argv.slice(2), commands, context);
