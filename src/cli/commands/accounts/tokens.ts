import { apiOptions, createApiClient } from '../../daemon/api-client.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import { agree, atMost, onlyArgument, spanOf, yesOption, type Command } from '../../command.ts';
import { readList } from '../../daemon/lists.ts';
import { formatTable, type Column } from '../../table.ts';

interface ShownToken {
  readonly id: string;
  readonly name: string;
  readonly readOnly: boolean;
  readonly link?: boolean;
  readonly subscriptions?: 'all' | 'own';
  readonly expiresAt: string | null;
  readonly lastUsedAt: string | null;
}

const columns: readonly Column<ShownToken>[] = [
  { heading: 'ID', text: ({ id }) => id },
  { heading: 'KIND', text: ({ link }) => (link === true ? 'link' : 'token') },
  { heading: 'MAY', text: rightsOf },
  { heading: 'EXPIRES', text: ({ expiresAt }) => expiresAt },
  { heading: 'LAST USED', text: ({ lastUsedAt }) => lastUsedAt },
  { heading: 'NAME', text: ({ name }) => name },
];

function rightsOf({ readOnly, subscriptions }: ShownToken): string {
  if (subscriptions !== 'own') return readOnly ? 'read' : 'read and write';
  return readOnly ? 'read, without subscriptions' : 'read, own subscriptions';
}

/** `tokens`: the tokens and links of an account. */
export const tokens: Command = {
  name: 'tokens',
  summary: 'list the tokens and links of an account',
  usage: '',
  options: { json: { text: 'JSON instead of a table' }, ...apiOptions },
  examples: ['filing-webhooks tokens --account acme'],
  async run(input, context) {
    atMost(input, 0);
    const client = createApiClient(input, context);
    const { items } = await readList<ShownToken>(client, '/tokens');
    if (input.flag('json')) context.out(JSON.stringify(items, null, 2));
    else if (items.length > 0) context.out(formatTable(columns, items));
    else context.note(`Account ${client.account} has no tokens: filing-webhooks tokens create makes one.`);
    return exitCodes.ok;
  },
};

/** `tokens create`: makes a token; its text is printed once, alone on standard output. */
export const createToken: Command = {
  name: 'tokens create',
  summary: 'make a token for one account; its text is shown once',
  usage: '--name NAME',
  options: {
    name: { value: 'NAME', text: 'who has it' },
    'read-only': { text: 'it may only read' },
    'own-subscriptions': { text: 'it may read, and manage only the subscriptions that it makes' },
    expires: { value: 'SPAN', text: 'it ends after this, e.g. 90d (default: never)' },
    json: { text: 'the answer as a JSON object' },
    ...apiOptions,
  },
  examples: [
    'filing-webhooks tokens create --account acme --name "Grafana" --read-only --expires 90d',
    'filing-webhooks tokens create --account acme --name "n8n" --own-subscriptions',
  ],
  async run(input, context) {
    atMost(input, 0);
    const name = input.text('name');
    if (name === null) throw new CliError('usage', '--name NAME is missing: who has the token?');
    const expires = spanOf(input, 'expires');
    const client = createApiClient(input, context);
    const made = await client.post<{ id: string; token: string }>('/tokens', {
      name,
      readOnly: input.flag('read-only'),
      ...(input.flag('own-subscriptions') ? { subscriptions: 'own' } : {}),
      ...(expires === null ? {} : { expiresAt: new Date(Date.now() + expires).toISOString() }),
    });
    context.out(input.flag('json') ? JSON.stringify(made, null, 2) : made.token);
    context.note(`The token ${made.id} is shown only now; filing-webhooks tokens revoke ${made.id} ends it.`);
    return exitCodes.ok;
  },
};

/** `tokens revoke`: ends a token or a link, with those that it made, after a question. */
export const revokeToken: Command = {
  name: 'tokens revoke',
  summary: 'end a token or a link, and those that it made',
  usage: 'ID',
  options: {
    'keep-children': { text: 'leave the tokens that it made' },
    ...yesOption,
    ...apiOptions,
  },
  examples: ['filing-webhooks tokens revoke tok_9f86d081884c7d65 --yes'],
  async run(input, context) {
    const id = onlyArgument(input, 'ID');
    const client = createApiClient(input, context);
    const children = input.flag('keep-children') ? 'keep' : 'revoke';
    await agree(input, context, `Revoke ${id}${children === 'keep' ? '' : ' and the tokens that it made'}?`);
    await client.send('DELETE', `/tokens/${encodeURIComponent(id)}?children=${children}`);
    context.out(`${id} is revoked.`);
    return exitCodes.ok;
  },
};

const defaultLinkMs = 7 * 86_400_000;

/** `links create`: makes a link that opens the page for one account; it alone is on standard output. */
export const createLink: Command = {
  name: 'links create',
  summary: 'make a link that opens the page for one account, without a token',
  usage: '',
  options: {
    expires: { value: 'SPAN', text: 'it ends after this, e.g. 30d (default: 7d)' },
    'read-write': { text: 'the page that it opens may also change the account' },
    name: { value: 'NAME', text: 'for whom it is' },
    json: { text: 'the answer as a JSON object' },
    ...apiOptions,
  },
  examples: ['filing-webhooks links create --account acme --expires 30d --name "Agency in Dallas"'],
  async run(input, context) {
    atMost(input, 0);
    const name = input.text('name');
    const expiresInMs = spanOf(input, 'expires') ?? defaultLinkMs;
    const made = await createApiClient(input, context).post<{ id: string; url: string; expiresAt: string }>(
      '/links',
      { expiresInMs, readOnly: !input.flag('read-write'), ...(name === null ? {} : { name }) },
    );
    context.out(input.flag('json') ? JSON.stringify(made, null, 2) : made.url);
    context.note(
      `It works until ${made.expiresAt}, any number of times; filing-webhooks tokens revoke ${made.id} ends it.`,
    );
    return exitCodes.ok;
  },
};
