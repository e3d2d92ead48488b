import { CliError } from '../../cli-error.ts';
import { spanMs, type Context, type Input, type Option } from '../../command.ts';
import { readNamed } from '../../read-file.ts';

/**
 * The options for what single endpoints ask for. Secrets come from files or standard input (`-`): other users
 * of the machine see a command line.
 */
export const endpointOptions = {
  auth: { value: 'none', text: 'none: send no token any more' },
  'auth-token-url': { value: 'URL', text: 'the token endpoint of an endpoint behind OAuth 2.0' },
  'auth-client-id': { value: 'ID', text: 'the client at the token endpoint' },
  'auth-client-secret-file': { value: 'FILE', text: "a file with the client's secret; - is standard input" },
  'auth-scope': { value: 'SCOPES', text: 'scopes with spaces between them' },
  'auth-audience': { value: 'AUDIENCE', text: 'whom the token is for' },
  'auth-by': { value: 'WAY', text: 'how the client authenticates: basic (the default) or post' },
  tls: { value: 'none', text: 'none: no certificate, authority or pin any more' },
  'tls-cert-file': { value: 'FILE', text: "the client's certificate, PEM, with its intermediates" },
  'tls-key-file': { value: 'FILE', text: 'its private key, PEM; - is standard input' },
  'tls-ca-file': { value: 'FILE', text: 'the authorities that the endpoint is trusted by, PEM' },
  'tls-pin': {
    value: 'PIN',
    multiple: true,
    text: "the SHA-256 of the endpoint's public key, base64; repeatable",
  },
  verification: { value: 'WAY', text: 'how the endpoint proves itself: none, challenge or cloudevents' },
  rate: { value: 'NUMBER', text: 'at most so many attempts a second; default removes the bound' },
  timeout: { value: 'SPAN', text: 'for a whole callback, e.g. 5s or 800ms; default: as the operator has it' },
  retry: { value: 'SPANS', text: 'between attempts, e.g. 5s,5m,1h; default: as the operator has it' },
  'max-in-flight': { value: 'NUMBER', text: 'callbacks at once; default: as the operator has it' },
} satisfies Record<string, Option>;

/**
 * The fields of a request that these options give; those that are not given are left out. `auth` and `tls`
 * are replaced as a whole by the API, so the options of each belong together. Throws CliError.
 */
export async function endpointSettingsOf(input: Input, context: Context): Promise<Record<string, unknown>> {
  const files = ['auth-client-secret-file', 'tls-key-file', 'tls-cert-file', 'tls-ca-file'] as const;
  const fromInput = files.filter((name) => input.text(name) === '-');
  if (fromInput.length > 1)
    throw new CliError('usage', `Only one file can be standard input, not --${fromInput.join(' and --')}.`);
  const read = async (name: (typeof files)[number]) => {
    const file = input.text(name);
    if (file === null) return undefined;
    const text = (file === '-' ? await context.readInput() : await readNamed(file)).toString();
    if (text.trim() === '') throw new CliError('noInput', `--${name} ${file} is empty.`);
    return text;
  };
  return given({
    auth: authOf(input, await read('auth-client-secret-file')),
    tls: tlsOf(input, {
      cert: await read('tls-cert-file'),
      key: await read('tls-key-file'),
      ca: await read('tls-ca-file'),
    }),
    verification: input.text('verification') ?? undefined,
    rate: numberOf(input, 'rate'),
    timeoutMs: unlessDefault(input.text('timeout'), (text) => spanFrom(text, 'timeout')),
    retryMs: unlessDefault(input.text('retry'), (text) =>
      text.split(',').map((each) => spanFrom(each.trim(), 'retry')),
    ),
    maxInFlight: numberOf(input, 'max-in-flight'),
  });
}

function authOf(input: Input, secret: string | undefined): object | null | undefined {
  const parts = given({
    tokenUrl: input.text('auth-token-url') ?? undefined,
    clientId: input.text('auth-client-id') ?? undefined,
    // Editors end a file with a line break.
    clientSecret: secret?.replace(/\r?\n$/, ''),
    scope: input.text('auth-scope') ?? undefined,
    audience: input.text('auth-audience') ?? undefined,
    clientAuthentication: input.text('auth-by') ?? undefined,
  });
  const isEmpty = Object.keys(parts).length === 0;
  if (removes(input, 'auth', isEmpty)) return null;
  if (isEmpty) return undefined;
  for (const [part, option] of requiredOfAuth)
    if (!(part in parts))
      throw new CliError('usage', `--${option} is missing: the settings of auth are given together.`);
  return { type: 'oauth2', ...parts };
}

const requiredOfAuth = [
  ['tokenUrl', 'auth-token-url'],
  ['clientId', 'auth-client-id'],
  ['clientSecret', 'auth-client-secret-file'],
] as const;

function tlsOf(input: Input, files: Readonly<Record<string, string | undefined>>): object | null | undefined {
  const pins = input.texts('tls-pin');
  const parts = given({ ...files, pin: pins.length === 0 ? undefined : pins });
  const isEmpty = Object.keys(parts).length === 0;
  if (removes(input, 'tls', isEmpty)) return null;
  return isEmpty ? undefined : parts;
}

function removes(input: Input, name: 'auth' | 'tls', isEmpty: boolean): boolean {
  const text = input.text(name);
  if (text === null) return false;
  if (text !== 'none' || !isEmpty)
    throw new CliError('usage', `--${name} takes only none, and no other option of ${name} beside it.`);
  return true;
}

function numberOf(input: Input, option: 'rate' | 'max-in-flight'): number | null | undefined {
  return unlessDefault(input.text(option), (text) => {
    if (/^\d{1,9}(\.\d{1,9})?$/.test(text)) return Number(text);
    throw new CliError('usage', `--${option} must be a number, or default.`);
  });
}

function spanFrom(text: string, option: string): number {
  const ms = spanMs(text);
  if (ms === null)
    throw new CliError('usage', `--${option} takes spans such as 800ms, 5s or 1h, or default.`);
  return ms;
}

function unlessDefault<T>(text: string | null, parse: (text: string) => T): T | null | undefined {
  if (text === null) return undefined;
  return text === 'default' ? null : parse(text);
}

function given(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}
