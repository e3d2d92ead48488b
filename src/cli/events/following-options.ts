import type { Context, Input, Option } from '../command.ts';
import type { Following, StreamNews } from './follow-events.ts';

/** The options that choose events of the log and where to begin. */
export const followingOptions = {
  types: { value: 'TYPES', text: 'only these, e.g. filing.rejected,account.*' },
  filing: { value: 'ID', text: 'only events of this filing' },
  earliest: { text: 'begin with the oldest event in the log instead of the next one' },
  cursor: { value: 'CURSOR', text: 'begin behind this place, as an earlier run printed it' },
} satisfies Record<string, Option>;

/** The values of `followingOptions`. */
export function followingOf(input: Input): Following {
  return {
    types: input.text('types'),
    filingId: input.text('filing'),
    cursor: input.text('cursor'),
    from: input.flag('earliest') ? 'earliest' : 'now',
  };
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
