import { apiOptions, createApiClient, query } from '../../daemon/api-client.ts';
import { exitCodes } from '../../cli-error.ts';
import { atMost, timeOf, type Command } from '../../command.ts';
import { formatFields, formatTable, type Column } from '../../table.ts';
import { countFrom } from './count-from.ts';

interface ShownAttempt {
  readonly id: string;
  readonly subscription: string;
  readonly at: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly filingId: string | null;
  readonly outcome: string;
  readonly statusCode: number | null;
  readonly durationMs: number;
  readonly reason: string | null;
}

const columns: readonly Column<ShownAttempt>[] = [
  { heading: 'AT', text: ({ at }) => at },
  { heading: 'OUTCOME', text: ({ outcome }) => outcome },
  { heading: 'STATUS', text: ({ statusCode }) => statusCode },
  { heading: 'MS', text: ({ durationMs }) => Math.round(durationMs) },
  { heading: 'TYPE', text: ({ eventType }) => eventType },
  { heading: 'FILING', text: ({ filingId }) => filingId },
  { heading: 'EVENT', text: ({ eventId }) => eventId },
  { heading: 'ATTEMPT', text: ({ id }) => id },
  { heading: 'REASON', text: ({ reason }) => reason },
];

/** `attempts`: the latest attempts of an account's deliveries; or one, with request and response. */
export const attempts: Command = {
  name: 'attempts',
  summary: 'list attempts of deliveries, or show one with request and response',
  usage: '[ID]',
  options: {
    subscription: { value: 'ID', text: 'only those to this subscription' },
    event: { value: 'ID', text: 'only those of this event' },
    filing: { value: 'ID', text: 'only those about this filing' },
    outcome: { value: 'OUTCOME', text: 'only these, e.g. http_error' },
    after: { value: 'TIME', text: 'at this time or later, e.g. 2026-11-21T10:00:00Z' },
    before: { value: 'TIME', text: 'earlier than this' },
    limit: { value: 'NUMBER', text: 'at most this many, up to 100 (default: 50)' },
    json: { text: 'JSON instead of a table' },
    ...apiOptions,
  },
  examples: [
    'filing-webhooks attempts --filing f_123',
    'filing-webhooks attempts --subscription sub_3f0c9b7a51d24e6f8a90b1c2d3e4f506 --outcome http_error',
  ],
  async run(input, context) {
    atMost(input, 1);
    const client = createApiClient(input, context);
    const asJson = input.flag('json');
    const [id] = input.positionals;
    if (id !== undefined) {
      const found = await client.get<Record<string, unknown>>(`/attempts/${encodeURIComponent(id)}`);
      context.out(asJson ? JSON.stringify(found, null, 2) : formatFields(found));
      return exitCodes.ok;
    }
    const { items } = await client.get<{ items: ShownAttempt[] }>(
      `/attempts${query({
        subscription: input.text('subscription'),
        eventId: input.text('event'),
        filingId: input.text('filing'),
        outcome: input.text('outcome'),
        after: timeOf(input, 'after'),
        before: timeOf(input, 'before'),
        limit: countFrom(input, 'limit', 50),
      })}`,
    );
    if (asJson) context.out(JSON.stringify(items, null, 2));
    else if (items.length > 0) context.out(formatTable(columns, items));
    else context.note('No attempt matches.');
    return exitCodes.ok;
  },
};
