import { apiOptions, createApiClient } from '../api-client.ts';
import { CliError, exitCodes, readNamed } from '../cli-error.ts';
import { agree, yesOption, type Command, type Context, type Input } from '../command.ts';

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** `api`: one request to the API of the daemon; the response goes to standard output as indented JSON. */
export const api: Command = {
  name: 'api',
  summary: 'send one request to the API, which does all that the page does (/docs lists it)',
  usage: 'METHOD PATH',
  options: {
    data: { value: 'JSON', text: 'the body; @FILE reads it from a file, - from standard input' },
    ...yesOption,
    ...apiOptions,
  },
  examples: [
    'filing-webhooks api GET /subscriptions',
    "filing-webhooks api GET '/filings?q=SL-2024-0117'",
    'filing-webhooks api POST /subscriptions --data \'{"url":"https://hooks.example.com/filings","statuses":["REJECTED"]}\'',
    'filing-webhooks api POST /subscriptions/sub_3f0c9b7a51d24e6f8a90b1c2d3e4f506/test',
    'filing-webhooks api GET /v1/accounts',
  ],
  async run(input, context) {
    const [word = '', path = '', ...surplus] = input.positionals;
    const method = word.toUpperCase();
    if (!methods.includes(method))
      throw new CliError('usage', `METHOD must be one of ${methods.join(', ')}: --help shows examples.`);
    if (!path.startsWith('/'))
      throw new CliError('usage', 'PATH must begin with /: behind the account, or with /v1/.');
    if (surplus.length > 0)
      throw new CliError('usage', `There is no argument "${surplus[0]}": quote the path.`);
    const body = await readData(input, context);
    const client = createApiClient(input, context);
    if (method === 'DELETE') await agree(input, context, `Delete ${path}?`);
    const answer = await client.send<unknown>(method, path, body);
    if (answer !== null) context.out(shown(answer));
    return exitCodes.ok;
  },
};

// JSON leaves characters as they are that move the cursor of a terminal or turn the direction of its text.
function shown(answer: unknown): string {
  const unsafe = /[\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
  return JSON.stringify(answer, null, 2).replaceAll(
    unsafe,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

async function readData(input: Input, context: Context): Promise<unknown> {
  const given = input.text('data');
  if (given === null) return undefined;
  const file = given.startsWith('@') ? given.slice(1) : null;
  const text = given === '-' ? await context.readInput() : file === null ? given : await readNamed(file);
  try {
    return JSON.parse(String(text));
  } catch (error) {
    throw new CliError('usage', `--data is not JSON (${(error as Error).message}): quote it for the shell.`);
  }
}
