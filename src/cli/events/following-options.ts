import { eventTypes, loggedEventTypes } from '../../events/event-types.ts';
import { unknownWord } from '../../words/near-name.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import type { Context, Input, Option } from '../command.ts';
import type { ApiClient } from '../api-client.ts';
import { followEvents, type FollowedEvent, type Following } from './follow-events.ts';

/** The options that choose events of the log and where to begin. */
export const followingOptions = {
  types: { value: 'TYPES', text: 'only these, e.g. filing.rejected,account.*' },
  filing: { value: 'ID', text: 'only events of this filing' },
  earliest: { text: 'begin with the oldest event in the log instead of the next one' },
  cursor: { value: 'CURSOR', text: 'begin behind this place, as an earlier run printed it' },
} satisfies Record<string, Option>;

/** The values of `followingOptions`. Throws CliError for a type that no event of the log has. */
function followingOf(input: Input): Following {
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
async function sayIfUnknown(
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

/** How a command shows the events that it follows. */
interface Shown {
  /** The note when the stream opens for the first time. */
  readonly ready: string;
  /** Options to give again, beside the cursor, to continue. */
  readonly again?: string;
  /** The line about an event. */
  readonly line: (event: FollowedEvent) => string | Promise<string>;
}

/**
 * Prints a line about each event that the options choose, until the user stops it, and then how to continue
 * from there.
 */
export async function showEvents(
  client: ApiClient,
  input: Input,
  context: Context,
  { ready, again = '', line }: Shown,
): Promise<void> {
  const following = followingOf(input);
  await sayIfUnknown(client, following, context);
  let { cursor } = following;
  let isOpened = false;
  const news = {
    opened() {
      // Streams end every quarter of an hour, so a later opening is no news.
      if (!isOpened) context.note(ready);
      isOpened = true;
    },
    broken: (reason: string) => context.note(`${reason} Trying again.`),
  };
  for await (const event of followEvents(client, following, context.signal, news)) {
    const text = await line(event);
    if (context.signal.aborted) break;
    context.out(text);
    ({ cursor } = event);
  }
  if (cursor !== null) context.note(`Continue from here with --cursor ${cursor}${again}`);
}
