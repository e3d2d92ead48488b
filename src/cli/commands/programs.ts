import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import packageJson from '../../../package.json' with { type: 'json' };
import type { Environment } from '../../config/environment.ts';
import { CliError } from '../cli-error.ts';
import { atMost, type Command, type Input } from '../command.ts';

/** The options that `npm start` gives to Node (docs/operations.md, How much it takes). */
const startOptions = packageJson.scripts.start.split(' ').filter((word) => word.startsWith('--'));

/** `start`: runs the daemon, with the variables of the process and the `.env` of the folder. */
export const start: Command = command({
  name: 'start',
  summary: 'run the daemon here, with the variables of the process and of the .env in this folder',
  options: {
    data: {
      value: 'DIR',
      text: 'keep everything in this folder (DATA_DIR; default: ./data) without REDIS_URL',
    },
  },
  variablesOf(input): Environment {
    const data = input.text('data');
    return data === null ? {} : { DATA_DIR: data };
  },
  examples: [
    'filing-webhooks start --data /var/lib/filing-webhooks',
    'REDIS_URL=redis://127.0.0.1:6379 API_TOKEN=… ENCRYPTION_KEY=… filing-webhooks start',
    'filing-webhooks start   (with these variables in ./.env)',
  ],
  file: 'main',
  nodeOptions: startOptions,
});

/** `sandbox`: runs the partner service for tests. */
export const sandbox: Command = command({
  name: 'sandbox',
  summary: 'run the partner service for tests, on SANDBOX_PORT (4010)',
  examples: ['filing-webhooks sandbox', 'SANDBOX_PORT=4020 filing-webhooks sandbox'],
  file: 'sandbox/main',
});

/** `demo`: runs the daemon with a sandbox and a receiver that prints callbacks. */
export const demo: Command = command({
  name: 'demo',
  summary: 'show everything at once: a sandbox, the daemon, and a receiver that prints what it verifies',
  examples: ['filing-webhooks demo', 'DEMO_CALLBACKS=3 filing-webhooks demo'],
  file: 'demo/main',
});

/** A command that a program of this installation does in place of the command line. */
interface Program extends Pick<Command, 'name' | 'summary' | 'examples'> {
  /** Its file below `src`, without the ending: `.ts` in the repository, `.js` in the published package. */
  readonly file: string;
  readonly nodeOptions?: readonly string[];
  readonly options?: Command['options'];
  /** The variables that its options stand for. */
  variablesOf?(input: Input): Environment;
}

function command(program: Program): Command {
  return {
    ...program,
    usage: '',
    options: program.options ?? {},
    async run(input, { env }) {
      atMost(input, 0);
      // Without the option `env` also holds the `.env` of the installation, which is not the program's.
      const given = input.text('env-file') === null ? process.env : env;
      return runProgram(program, { ...given, ...program.variablesOf?.(input) });
    },
  };
}

// Runs a program with these variables in place of this process. It keeps the pid, so that a supervisor's
// signals and the exit code are its own, and nothing is returned. Windows cannot do that.
function runProgram({ file, nodeOptions = [] }: Program, env: Environment): never {
  const script = new URL(`../../${file}${extname(import.meta.filename)}`, import.meta.url);
  const args = [process.execPath, ...nodeOptions, fileURLToPath(script)];
  if (process.platform !== 'win32') process.execve?.(process.execPath, args, { ...env });
  throw new CliError('unavailable', 'This system cannot run the program; on Windows, use WSL.');
}
