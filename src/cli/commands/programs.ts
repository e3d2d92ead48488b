import packageJson from '../../../package.json' with { type: 'json' };
import { atMost, type Command } from '../command.ts';
import { runProgram, type Program } from './run-program.ts';

/** The options that `npm start` gives to Node (docs/operations.md, Memory). */
const nodeOptions = packageJson.scripts.start.split(' ').filter((word) => word.startsWith('--'));

/** `start`: runs the daemon, with the variables of the process and the `.env` of the folder. */
export const start: Command = command({
  name: 'start',
  summary: 'run the daemon here, with the variables of the process and of the .env in this folder',
  examples: [
    'REDIS_URL=redis://127.0.0.1:6379 API_TOKEN=… ENCRYPTION_KEY=… filing-webhooks start',
    'filing-webhooks start   (with these variables in ./.env)',
  ],
  program: { file: 'main', nodeOptions },
});

/** `sandbox`: runs the partner service for tests. */
export const sandbox: Command = command({
  name: 'sandbox',
  summary: 'run the partner service for tests, on SANDBOX_PORT (4010)',
  examples: ['filing-webhooks sandbox', 'SANDBOX_PORT=4020 filing-webhooks sandbox'],
  program: { file: 'sandbox/main', nodeOptions: [] },
});

/** `demo`: runs the daemon with a sandbox and a receiver that prints callbacks. */
export const demo: Command = command({
  name: 'demo',
  summary: 'show everything at once: a sandbox, the daemon, and a receiver that prints what it verifies',
  examples: ['filing-webhooks demo', 'DEMO_CALLBACKS=3 filing-webhooks demo'],
  program: { file: 'demo/main', nodeOptions: [] },
});

type ProgramCommand = Pick<Command, 'name' | 'summary' | 'examples'> & { readonly program: Program };

function command({ program, ...about }: ProgramCommand): Command {
  return {
    ...about,
    usage: '',
    options: {},
    run(input, { env }) {
      atMost(input, 0);
      // Without the option `env` also holds the `.env` of the installation, which is not the program's.
      return runProgram(program, input.text('env-file') === null ? process.env : env);
    },
  };
}
