import { apiOptions, createApiClient } from '../../daemon/api-client.ts';
import { printable } from '../../../demo/callback-line.ts';
import { CliError, exitCodes } from '../../cli-error.ts';
import type { Command } from '../../command.ts';
import { settingOptions, settingsOf } from './settings.ts';

const { types, statuses, states, filter } = settingOptions;

interface Preview {
  readonly matched: number;
  readonly of: number;
  readonly undecided: number;
  readonly samples: readonly {
    readonly id: string;
    readonly type: string;
    readonly data: { readonly filingId?: string };
  }[];
}

/** `subscriptions preview`: what a subscription would have got of the latest events. Stores nothing. */
export const previewSubscription: Command = {
  name: 'subscriptions preview',
  summary: 'try settings on the latest events; nothing is stored',
  usage: '',
  options: {
    types,
    statuses,
    states,
    filter,
    last: { value: 'N', text: 'number of events to look at, up to 10000 (default: 1000)' },
    json: { text: 'the answer as a JSON object' },
    ...apiOptions,
  },
  examples: ['filing-webhooks subscriptions preview --filter "filing.premium > 10000" --last 10000'],
  async run(input, context) {
    const last = input.text('last');
    if (last !== null && !/^[1-9]\d{0,4}$/.test(last))
      throw new CliError('usage', '--last must be a number up to 10000.');
    const body = { ...settingsOf(input), ...(last === null ? {} : { last: Number(last) }) };
    const client = createApiClient(input, context);
    const preview = await client.send<Preview>('POST', '/subscriptions/preview', body);
    context.out(input.flag('json') ? JSON.stringify(preview, null, 2) : linesOf(preview).join('\n'));
    return exitCodes.ok;
  },
};

function linesOf({ matched, of, undecided, samples }: Preview): string[] {
  const more =
    undecided === 0 ? '' : `; the filter cannot decide on ${undecided} more, which would be delivered`;
  return [
    `${matched} of the latest ${of} events match${more}.`,
    ...samples.map(({ id, type, data }) => `  ${id}  ${type}  ${printable(data.filingId ?? '')}`),
  ];
}
