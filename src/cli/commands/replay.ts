import { setTimeout as delay } from 'node:timers/promises';
import type { Replay } from '../../dashboard/api-types.ts';
import { apiOptions, createApiClient, type ApiClient } from '../api-client.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import {
  agree,
  onlyArgument,
  spanOf,
  timeOf,
  write,
  yesOption,
  type Command,
  type Context,
  type Input,
} from '../command.ts';

type Progress = Pick<Replay, 'state' | 'matched' | 'delivered' | 'failed'>;

const lookMs = 300;
const barWidth = 30;

/** `replay`: delivers events again to one subscription, and waits for the end. */
export const replay: Command = {
  name: 'replay',
  summary: 'deliver events again to a subscription, with progress',
  usage: 'SUBSCRIPTION',
  options: {
    after: { value: 'TIME', text: 'events recorded at this time or later, e.g. 2026-11-21T10:00:00Z' },
    last: { value: 'SPAN', text: 'events of the last 30m, 1h, 1d … instead of --after' },
    before: { value: 'TIME', text: 'events recorded earlier than this' },
    types: { value: 'TYPES', text: 'only these, e.g. filing.rejected,filing.completed' },
    filing: { value: 'ID', text: 'only events of this filing' },
    'dead-letters': { text: 'only events that were given up' },
    'dry-run': { text: 'only count the events' },
    ...yesOption,
    'no-wait': { text: 'do not wait for the end' },
    json: { text: 'the end as a JSON object' },
    ...apiOptions,
  },
  examples: [
    'filing-webhooks replay sub_3f0c9b7a51d24e6f8a90b1c2d3e4f506 --dead-letters',
    'filing-webhooks replay sub_3f0c9b7a51d24e6f8a90b1c2d3e4f506 --last 1d --types filing.rejected --yes',
  ],
  async run(input, context) {
    const path = `/subscriptions/${encodeURIComponent(onlyArgument(input, 'SUBSCRIPTION'))}`;
    const request = requestOf(input, Date.now());
    const client = createApiClient(input, context);
    const { matched } = await client.send<{ matched: number }>('POST', `${path}/replay?dryRun=true`, request);
    if (input.flag('dry-run')) {
      write(input, context, { matched }, `${eventCount(matched)} would be delivered again.`);
      return exitCodes.ok;
    }
    if (matched > 0)
      await agree(input, context, `Deliver ${eventCount(matched)} again to ${input.positionals[0]}?`);
    const started = await client.send<{ id: string; matched: number }>('POST', `${path}/replay`, request);
    if (input.flag('no-wait')) {
      const line = `${started.id} will deliver ${eventCount(started.matched)} again`;
      write(input, context, started, line);
      return exitCodes.ok;
    }
    const end = await untilFinished(client, `${path}/replays/${started.id}`, context);
    write(input, context, end, conclusion(end, input.positionals[0] ?? ''));
    return end.failed === 0 && end.state === 'finished' ? exitCodes.ok : exitCodes.no;
  },
};

function requestOf(input: Input, now: number): Record<string, unknown> {
  const last = spanOf(input, 'last');
  const after = timeOf(input, 'after');
  if (last !== null && after !== null)
    throw new CliError('usage', '--last and --after say the same: give one of them.');
  const fields = {
    after: last === null ? after : new Date(now - last).toISOString(),
    before: timeOf(input, 'before'),
    eventTypes: input.text('types')?.split(',') ?? null,
    filingId: input.text('filing'),
    deadLettersOnly: input.flag('dead-letters') || null,
  };
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

async function untilFinished(client: ApiClient, path: string, context: Context): Promise<Progress> {
  for (;;) {
    const progress = await client.get<Progress>(path);
    context.progress(progressBar(progress));
    if (progress.state !== 'running') return progress;
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

/** `1 event`, `2 events`. */
export function eventCount(count: number): string {
  return count === 1 ? '1 event' : `${count} events`;
}

function conclusion({ state, matched, delivered, failed }: Progress, id: string): string {
  if (state === 'cancelled') return `Cancelled: delivered ${delivered} of ${eventCount(matched)} again.`;
  if (matched === 0) return 'No event matches: the log has none like this for the subscription.';
  if (failed === 0) return `Delivered ${delivered} of ${eventCount(matched)} again.`;
  return `Delivered ${delivered} of ${eventCount(matched)} again, ${failed} failed: filing-webhooks api GET '/attempts?subscription=${id}' says why.`;
}
