import { CliError } from '../../cli-error.ts';
import { spanMs, timeOf, type Input, type Option } from '../../command.ts';

/** The options for the settings of a subscription. */
export const settingOptions = {
  types: { value: 'TYPES', text: 'event types with commas between, e.g. filing.rejected,account.*' },
  statuses: { value: 'STATUSES', text: 'only events after which the filing has one of these, e.g. REJECTED' },
  states: { value: 'STATES', text: 'only filings of these states, e.g. TX,CA' },
  filter: { value: 'EXPRESSION', text: 'only events for which this is true, e.g. "filing.premium > 10000"' },
  description: { value: 'TEXT', text: 'for people' },
  header: {
    value: 'LINE',
    multiple: true,
    text: 'a header of each callback, e.g. "x-team: billing"; repeatable',
  },
  format: { value: 'FORMAT', text: 'standard, cloudevents, slack or teams' },
  payload: { value: 'PAYLOAD', text: 'full, or thin: without the filing' },
  signatures: { value: 'VERSIONS', text: 'v1 (the secret), v1a (a public key) or v1,v1a' },
  from: { value: 'WHERE', text: 'now, earliest or state: what is delivered first' },
  expires: {
    value: 'WHEN',
    text: 'nothing is sent from then on: after a span (30d) or at a time with its zone; never removes it',
  },
  secret: { value: 'SECRET', text: 'sign with this whsec_… (better: FILING_WEBHOOKS_SECRET)' },
} satisfies Record<string, Option>;

/**
 * The fields of a request that the options give; those that are not given are left out. `all` stands for
 * every status, state or event. Throws CliError.
 */
export function settingsOf(
  input: Input,
  env: Readonly<Record<string, string | undefined>> = {},
): Record<string, unknown> {
  const lines = input.texts('header');
  const signatures = listOf(input.text('signatures'));
  // A secret of the environment is meant for subscriptions that have one.
  const hasSecret = signatures === undefined || signatures.includes('v1');
  const fromEnvironment = hasSecret ? env['FILING_WEBHOOKS_SECRET'] : undefined;
  const fields = {
    eventTypes: listOf(input.text('types')),
    statuses: choiceOf(input.text('statuses')),
    states: choiceOf(input.text('states')),
    filter: input.text('filter') === 'all' ? null : (input.text('filter') ?? undefined),
    description: input.text('description') ?? undefined,
    headers: lines.length === 0 ? undefined : Object.fromEntries(lines.map(headerOf)),
    format: input.text('format') ?? undefined,
    payload: input.text('payload') ?? undefined,
    signatures,
    from: input.text('from') ?? undefined,
    expiresAt: expiryOf(input),
    secret: (input.text('secret') ?? fromEnvironment) || undefined,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

function expiryOf(input: Input): string | null | undefined {
  const text = input.text('expires');
  if (text === null) return undefined;
  if (text === 'never') return null;
  const ms = spanMs(text);
  if (ms !== null) return new Date(Date.now() + ms).toISOString();
  if (/^\d{4}-/.test(text)) return timeOf(input, 'expires');
  throw new CliError(
    'usage',
    '--expires must be a span such as 12h or 30d, a time with its zone such as 2026-11-21T10:00:00Z, or never.',
  );
}

function choiceOf(text: string | null): readonly string[] | null | undefined {
  return text === 'all' ? null : listOf(text);
}

function listOf(text: string | null): readonly string[] | undefined {
  return text?.split(',').map((word) => word.trim());
}

function headerOf(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  const name = line.slice(0, Math.max(0, colon));
  if (name === '' || /\s/.test(name))
    throw new CliError('usage', '--header must be a name and a value, such as "x-team: billing".');
  return [name, line.slice(colon + 1).trimStart()];
}
