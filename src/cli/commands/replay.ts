import { setTimeout as delay } from 'node:timers/promises';
import { apiOptions, createApiClient, type ApiClient } from '../api-client.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { onlyArgument, type Command, type Context, type Input } from '../command.ts';

interface Progress {
  readonly state: 'running' | 'finished';
  readonly matched: number;
  readonly delivered: number;
  readonly failed: number;
}

const lookMs = 300;
const barWidth = 30;

/** `replay`: delivers events again to one subscription, and waits for the end. */
export const replay: Command = {
  name: 'replay',
  summary: 'deliver events again to a subscription, with progress',
  usage: 'SUBSCRIPTION',
  options: {
    after: { value: 'TIME', text: 'events recorded at this time or later, e.g. 2026-11-21T10:00:00Z' },
    before: { value: 'TIME', text: 'events recorded earlier than this' },
    types: { value: 'TYPES', text: 'only these, e.g. filing.rejected,filing.completed' },
    filing: { value: 'ID', text: 'only events of this filing' },
    'dead-letters': { text: 'only events that were given up' },
    'no-wait': { text: 'do not wait for the end' },
    json: { text: 'the end as a JSON object' },
    ...apiOptions,
  },
  examples: [
    'filing-webhooks replay sub_3f0c9b7a51d24e6f8a90b1c2d3e4f506 --dead-letters',
    'filing-webhooks replay sub_3f0c9b7a51d24e6f8a90b1c2d3e4f506 --after 2026-11-21T00:00:00Z --types filing.rejected',
  ],
  async run(input, context) {
    const path = `/subscriptions/${encodeURIComponent(onlyArgument(input, 'SUBSCRIPTION'))}`;
    const client = createApiClient(input, context);
    const started = await client.post<{ id: string; matched: number }>(`${path}/replay`, requestOf(input));
    if (input.flag('no-wait')) {
      context.out(
        input.flag('json')
          ? JSON.stringify(started)
          : `${started.id} will deliver ${started.matched} events again`,
      );
      return exitCodes.ok;
    }
    const end = await untilFinished(client, `${path}/replays/${started.id}`, context);
    context.out(input.flag('json') ? JSON.stringify(end) : conclusion(end, input.positionals[0] ?? ''));
    return end.failed === 0 ? exitCodes.ok : exitCodes.no;
  },
};

function requestOf(input: Input): Record<string, unknown> {
  const fields = {
    after: timeOf(input, 'after'),
    before: timeOf(input, 'before'),
    eventTypes: input.text('types')?.split(',') ?? null,
    filingId: input.text('filing'),
    deadLettersOnly: input.flag('dead-letters') || null,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

function timeOf(input: Input, option: string): string | null {
  const text = input.text(option);
  if (text !== null && !/^\d{4}-\d\d-\d\dT.*(?:Z|[+-]\d\d:\d\d)$/i.test(text))
    throw new CliError('usage', `--${option} must be a time with its zone, such as 2026-11-21T10:00:00Z.`);
  return text;
}

async function untilFinished(client: ApiClient, path: string, context: Context): Promise<Progress> {
  for (;;) {
    const progress = await client.get<Progress>(path);
    context.progress(progressBar(progress));
    if (progress.state === 'finished') return progress;
    await delay(lookMs, undefined, { signal: context.signal });
  }
}

/** `[####------] 4 of 10`, with the number of failures behind it. */
export function progressBar({ matched, delivered, failed, state }: Progress): string {
  const share = matched === 0 || state === 'finished' ? 1 : (delivered + failed) / matched;
  const done = Math.round(barWidth * share);
  const failures = failed === 0 ? '' : `, ${failed} failed`;
  return `[${'#'.repeat(done)}${'-'.repeat(barWidth - done)}] ${delivered} of ${matched} delivered${failures}`;
}

function conclusion({ matched, delivered, failed }: Progress, id: string): string {
  if (matched === 0) return 'No event matches: the log has none like this for the subscription.';
  if (failed === 0) return `Delivered ${delivered} of ${matched} events again.`;
  return `Delivered ${delivered} of ${matched} events again, ${failed} failed: GET …/subscriptions/${id}/attempts says why.`;
}
