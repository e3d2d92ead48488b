import { readFile } from 'node:fs/promises';
import { styleText } from 'node:util';
import { CliError, exitCodes } from '../../cli-error.ts';
import { atMost, type Command, type Context, type Input } from '../../command.ts';
import { parseHeaders, verifyCallback } from '../../events/verify-callback.ts';
import { readSigningKey } from '../../events/signing-key.ts';

/** `verify`: whether a captured callback is genuine, and the reason if not. */
export const verify: Command = {
  name: 'verify',
  summary: 'check the signature of a captured callback',
  usage: '',
  options: {
    secret: {
      value: 'SECRET',
      text: 'the secret of the subscription, whsec_… (better: FILING_WEBHOOKS_SECRET)',
    },
    header: {
      value: 'LINE',
      multiple: true,
      text: 'a header as it came, e.g. "webhook-id: evt_1"; once for each',
    },
    headers: { value: 'FILE', text: 'a file with the headers, one a line' },
    body: { value: 'FILE', text: 'a file with the body, byte for byte; default: standard input' },
    'ignore-age': { text: 'accept callbacks that were captured more than five minutes ago' },
    json: { text: 'what was found as a JSON object' },
  },
  examples: [
    'filing-webhooks verify --headers headers.txt --body body.json --ignore-age',
    'filing-webhooks verify --header "webhook-id: evt_1" --header "webhook-timestamp: 1795255203" --header "webhook-signature: v1,…" < body.json',
  ],
  async run(input, context) {
    atMost(input, 0);
    const secret = input.text('secret') ?? context.env['FILING_WEBHOOKS_SECRET'];
    if (!secret) throw new CliError('usage', 'No secret: set FILING_WEBHOOKS_SECRET, or give --secret.');
    const key = readSigningKey(secret);
    const callback = { headers: await readHeaders(input), body: await readBody(input, context) };
    const found = verifyCallback(callback, key, input.flag('ignore-age') ? null : Date.now());
    if (input.flag('json')) context.out(JSON.stringify(found));
    else if (found.ok)
      context.out(
        `${styleText('green', 'genuine')}  ${found.id}, signed ${new Date(found.sentAt).toISOString()}`,
      );
    else context.out(`${styleText('red', 'not genuine')}  ${found.reason}`);
    return found.ok ? exitCodes.ok : exitCodes.no;
  },
};

async function readHeaders(input: Input): Promise<Map<string, string>> {
  const file = input.text('headers');
  const lines = file === null ? [] : (await readNamed(file)).toString().split(/\r?\n/);
  return parseHeaders([...lines, ...input.texts('header')]);
}

async function readBody(input: Input, context: Context): Promise<Buffer> {
  const file = input.text('body');
  return file === null || file === '-' ? context.readInput() : readNamed(file);
}

async function readNamed(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw new CliError(
      'noInput',
      `${file} cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)}): check its name.`,
    );
  }
}
