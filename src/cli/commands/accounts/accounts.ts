import { apiOptions, createApiClient, type ApiClient } from '../../daemon/api-client.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { agree, atMost, onlyArgument, yesOption, type Command, type Input } from '../../command.ts';
import { readList } from '../../daemon/lists.ts';
import { formatFields, formatTable, type Column } from '../../table.ts';

/** An account as the API shows it, as far as the commands use it. */
export interface ShownAccount {
  readonly account: string;
  readonly baseUrl: string;
  readonly counts: Readonly<Record<string, number | null>>;
  readonly health: {
    readonly state: string;
    readonly lastCompletePollAt: string | null;
    readonly lastError: string | null;
    readonly late?: { readonly detail: string } | null;
  };
}

const { account: _, ...daemonOptions } = apiOptions;
const options = { json: { text: 'JSON instead of a table' }, ...daemonOptions };

const columns: readonly Column<ShownAccount>[] = [
  { heading: 'ACCOUNT', text: ({ account }) => account },
  { heading: 'HEALTH', text: ({ health }) => health.state },
  { heading: 'LAST COMPLETE POLL', text: ({ health }) => health.lastCompletePollAt },
  // Before the first complete poll nothing is known of them.
  { heading: 'REJECTED', text: (shown) => countOf(shown, 'REJECTED') },
  { heading: 'PENDING', text: (shown) => countOf(shown, 'PENDING') },
  { heading: 'SERVICE', text: ({ baseUrl }) => baseUrl },
];

/** The number of an account's filings with a status; null while it has never been read whole. */
export function countOf({ counts, health }: ShownAccount, status: string): number | null {
  return health.lastCompletePollAt === null ? null : (counts[status] ?? 0);
}

/** `accounts`: the accounts that the daemon watches, with their health. */
export const accounts: Command = {
  name: 'accounts',
  summary: 'list accounts with their health (operator token)',
  usage: '',
  options,
  examples: ['filing-webhooks accounts'],
  async run(input, context) {
    atMost(input, 0);
    const { items } = await readList<ShownAccount>(createApiClient(input, context), '/v1/accounts');
    if (input.flag('json')) context.out(JSON.stringify(items, null, 2));
    else if (items.length > 0) context.out(formatTable(columns, items));
    else context.note('There are no accounts: filing-webhooks accounts add NAME --service URL adds one.');
    return exitCodes.ok;
  },
};

/** `accounts show`: everything about one account. */
export const showAccount: Command = {
  name: 'accounts show',
  summary: 'show one account',
  usage: 'NAME',
  options,
  examples: ['filing-webhooks accounts show default'],
  async run(input, context) {
    const found = await createApiClient(input, context).get<Record<string, unknown>>(pathOf(input));
    context.out(input.flag('json') ? JSON.stringify(found, null, 2) : formatFields(found));
    return exitCodes.ok;
  },
};

/**
 * `accounts add`: adds an account, or gives one a new key. The key comes from a variable or standard input.
 */
export const addAccount: Command = {
  name: 'accounts add',
  summary: 'add an account, or give one another address or key (operator token)',
  usage: 'NAME --service URL',
  options: {
    service: { value: 'URL', text: 'the partner service, version segment included (PARTNER_BASE_URL)' },
    'key-stdin': { text: 'read the key of the partner service from standard input instead of PARTNER_KEY' },
    ...options,
  },
  examples: [
    'PARTNER_KEY=… filing-webhooks accounts add acme --service https://partner.example.com/v1',
    'filing-webhooks accounts add acme --service https://partner.example.com/v1 --key-stdin < key.txt',
  ],
  async run(input, context) {
    const path = pathOf(input);
    const baseUrl = input.text('service') ?? context.env['PARTNER_BASE_URL'];
    const key = input.flag('key-stdin')
      ? (await context.readInput()).toString().trim()
      : context.env['PARTNER_KEY'];
    if (!baseUrl) throw new CliError('usage', '--service URL is missing: where is the partner service?');
    if (!key) throw new CliError('usage', 'No key: set PARTNER_KEY, or give it with --key-stdin.');
    const saved = await put(createApiClient(input, context), path, { baseUrl, partnerKey: key });
    context.out(input.flag('json') ? JSON.stringify(saved, null, 2) : savedLine(saved));
    return saved.check?.ok === false ? exitCodes.no : exitCodes.ok;
  },
};

type Saved = ShownAccount & { readonly check?: { readonly ok: boolean; readonly detail: string } };

function put(client: ApiClient, path: string, body: unknown) {
  return client.send<Saved>('PUT', path, body);
}

function savedLine({ account, check }: Saved): string {
  return `${account} is saved.${check === undefined ? '' : ` ${check.detail}`}`;
}

/** `accounts remove`: removes an account with everything that belongs to it, after a question. */
export const removeAccount: Command = {
  name: 'accounts remove',
  summary: 'remove an account with its log, subscriptions and tokens (operator token)',
  usage: 'NAME',
  options: { ...yesOption, ...daemonOptions },
  examples: ['filing-webhooks accounts remove acme --yes'],
  async run(input, context) {
    const path = pathOf(input);
    const client = createApiClient(input, context);
    await client.get(path);
    const name = input.positionals[0] ?? '';
    await agree(input, context, `Remove ${name} with its log, its subscriptions and its tokens?`);
    await client.send('DELETE', path);
    context.out(`${name} is removed.`);
    return exitCodes.ok;
  },
};

function pathOf(input: Input): string {
  return `/v1/accounts/${encodeURIComponent(onlyArgument(input, 'NAME'))}`;
}
