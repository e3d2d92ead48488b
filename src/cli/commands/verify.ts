import { type KeyObject } from 'node:crypto';
import { styleText } from 'node:util';
import { printable } from '../../demo/callback-line.ts';
import { CliError, exitCodes, readNamed } from '../cli-error.ts';
import { atMost, write, type Command, type Context, type Input } from '../command.ts';
import { parseHeaders, verifyCallback } from '../events/verify-callback.ts';
import { readKey, readKeySet } from '../events/callback-keys.ts';

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
    key: {
      value: 'KEY',
      multiple: true,
      text: 'a public key of the subscription, whpk_…, in place of the secret: only v1a counts; repeatable',
    },
    keys: {
      value: 'FROM',
      text: 'a file or an address with a JWKS, such as …/.well-known/webhook-keys?subscription=sub_…',
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
    'filing-webhooks verify --keys "https://filings.example.com/.well-known/webhook-keys?subscription=sub_3f0c9b7a51d24e6f8a90b1c2d3e4f506" --headers headers.txt --body body.json',
  ],
  async run(input, context) {
    atMost(input, 0);
    const keys = await readKeys(input, context);
    const callback = { headers: await readHeaders(input), body: await readBody(input, context) };
    const found = verifyCallback(callback, keys, input.flag('ignore-age') ? null : Date.now());
    const text = found.ok
      ? `${styleText('green', 'genuine')}  ${printable(found.id)}, signed ${new Date(found.sentAt).toISOString()}`
      : `${styleText('red', 'not genuine')}  ${found.reason}`;
    write(input, context, found, text);
    return found.ok ? exitCodes.ok : exitCodes.no;
  },
};

async function readKeys(input: Input, context: Context): Promise<KeyObject[]> {
  const source = input.text('keys');
  const publicKeys = input.texts('key').map((text) => readKey('public key', text));
  if (source !== null) publicKeys.push(...(await readKeySet(source, context.signal)));
  const given = input.text('secret');
  if (publicKeys.length > 0) {
    if (given === null) return publicKeys;
    throw new CliError('usage', 'Give --secret for v1, or --key or --keys for v1a, not both.');
  }
  const secret = given ?? context.env['FILING_WEBHOOKS_SECRET'];
  if (!secret)
    throw new CliError('usage', 'No secret: set FILING_WEBHOOKS_SECRET, or give --secret, --key or --keys.');
  return [readKey('secret', secret)];
}

async function readHeaders(input: Input): Promise<Map<string, string>> {
  const file = input.text('headers');
  const lines = file === null ? [] : (await readNamed(file)).toString().split(/\r?\n/);
  return parseHeaders([...lines, ...input.texts('header')]);
}

async function readBody(input: Input, context: Context): Promise<Buffer> {
  const file = input.text('body');
  return file === null || file === '-' ? context.readInput() : readNamed(file);
}
