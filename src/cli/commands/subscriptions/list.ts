import { apiOptions, createApiClient } from '../../daemon/api-client.ts';
import { exitCodes } from '../../cli-error.ts';
import { atMost, onlyArgument, type Command } from '../../command.ts';
import { readList } from '../../daemon/lists.ts';
import { formatFields, formatTable, type Column } from '../../table.ts';

interface Subscription {
  readonly id: string;
  readonly url: string;
  readonly eventTypes: readonly string[];
  readonly statuses: readonly string[] | null;
  readonly state: string;
  readonly lag: number;
  readonly consecutiveFailures: number;
  readonly nextAttemptAt: string | null;
  readonly lastSuccessAt: string | null;
}

const columns: readonly Column<Subscription>[] = [
  { heading: 'ID', text: ({ id }) => id },
  { heading: 'STATE', text: ({ state }) => state },
  { heading: 'LAG', text: ({ lag }) => lag },
  { heading: 'FAILURES', text: ({ consecutiveFailures }) => consecutiveFailures },
  { heading: 'LAST SUCCESS', text: ({ lastSuccessAt }) => lastSuccessAt },
  { heading: 'TYPES', text: ({ eventTypes }) => eventTypes.join(' ') },
  { heading: 'STATUSES', text: ({ statuses }) => statuses?.join(' ') ?? 'all' },
  { heading: 'URL', text: ({ url }) => url },
];

/** `subscriptions`: the subscriptions of an account and the state of their delivery. */
export const subscriptions: Command = {
  name: 'subscriptions',
  argument: /^sub_/,
  summary: 'list subscriptions, or show one',
  usage: '[ID]',
  options: { json: { text: 'JSON instead of a table' }, ...apiOptions },
  examples: [
    'filing-webhooks subscriptions',
    'filing-webhooks subscriptions sub_3f0c9b7a51d24e6f8a90b1c2d3e4f506',
    'filing-webhooks subscriptions --json | jq -r \'.[] | select(.state != "active") | .url\'',
  ],
  async run(input, context) {
    atMost(input, 1);
    const client = createApiClient(input, context);
    const [id] = input.positionals;
    const asJson = input.flag('json');
    if (id !== undefined) {
      const found = await client.get<Record<string, unknown>>(`/subscriptions/${encodeURIComponent(id)}`);
      context.out(asJson ? JSON.stringify(found, null, 2) : formatFields(found));
      return exitCodes.ok;
    }
    const { items: found } = await readList<Subscription>(client, '/subscriptions');
    if (asJson) context.out(JSON.stringify(found, null, 2));
    else if (found.length > 0) context.out(formatTable(columns, found));
    else
      context.note(
        `Account ${client.account} has no subscriptions: filing-webhooks subscriptions create ENDPOINT makes one.`,
      );
    return exitCodes.ok;
  },
};

/** `subscriptions list`: as `subscriptions`. */
export const listSubscriptions: Command = {
  ...subscriptions,
  name: 'subscriptions list',
  summary: 'list subscriptions',
  usage: '',
  examples: ['filing-webhooks subscriptions list'],
  run(input, context) {
    atMost(input, 0);
    return subscriptions.run(input, context);
  },
};

/** `subscriptions show`: as `subscriptions` with an id. */
export const showSubscription: Command = {
  ...subscriptions,
  name: 'subscriptions show',
  summary: 'show one subscription',
  usage: 'ID',
  examples: ['filing-webhooks subscriptions show sub_3f0c9b7a51d24e6f8a90b1c2d3e4f506'],
  run(input, context) {
    onlyArgument(input, 'ID');
    return subscriptions.run(input, context);
  },
};
