import { eventTypes, loggedEventTypes } from '../../events/event-types.ts';
import { unknownWord } from '../../words/near-name.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import type { Context, Input, Option } from '../command.ts';
import type { ApiClient } from '../daemon/api-client.ts';
import type { Following, StreamNews } from './follow-events.ts';

/** The options that choose events of the log and where to begin. */
export const followingOptions = {
  types: { value: 'TYPES', text: 'only these, e.g. filing.rejected,account.*' },
  filing: { value: 'ID', text: 'only events of this filing' },
  earliest: { text: 'begin with the oldest event in the log instead of the next one' },
  cursor: { value: 'CURSOR', text: 'begin behind this place, as an earlier run printed it' },
} satisfies Record<string, Option>;

/** The values of `followingOptions`. Throws CliError for a type that no event of the log has. */
export function followingOf(input: Input): Following {
  const types = input.text('types');
  for (const type of types?.split(',') ?? []) refuseUnlogged(type.trim());
  return {
    types,
    filingId: input.text('filing'),
    cursor: input.text('cursor'),
    from: input.flag('earliest') ? 'earliest' : 'now',
  };
}

// `filing.*` and the like stand for all types that begin so.
function refuseUnlogged(type: string): void {
  const logged: readonly string[] = loggedEventTypes;
  const groups = [...new Set(logged.map((known) => `${known.split('.', 1)[0] ?? ''}.*`))];
  const known = ['*', ...groups, ...logged];
  if (known.includes(type)) return;
  if (Object.hasOwn(eventTypes, type))
    throw new CliError('usage', `--types: ${type} is sent by a test alone and is in no log: leave it out.`);
  throw new CliError('usage', `--types: ${unknownWord(type, 'event type', known)}.`);
}

/** Notes that the filing to follow was never seen: its events may come, or its id is misspelt. */
export async function sayIfUnknown(
  client: ApiClient,
  { filingId }: Following,
  { note }: Pick<Context, 'note'>,
): Promise<void> {
  if (filingId === null) return;
  const known = await client.get(`/filings/${encodeURIComponent(filingId)}`).catch((error: unknown) => {
    if (error instanceof CliError && error.exitCode === exitCodes.no) return null;
    throw error;
  });
  if (known === null)
    note(`No poll of account ${client.account} has seen a filing ${filingId}: check the id, or wait for it.`);
}

/** Notes for the user on the state of the stream; `ready` when it opens for the first time. */
export function reportStream(context: Context, ready: string): StreamNews {
  let isOpened = false;
  return {
    opened() {
      // Streams end every quarter of an hour, so a later opening is no news.
      if (!isOpened) context.note(ready);
      isOpened = true;
    },
    broken(reason) {
      context.note(`${reason} Trying again.`);
    },
  };
}
