import { apiOptions, createApiClient } from '../api-client.ts';
import { exitCodes } from '../cli-error.ts';
import { atMost, type Command, type Context, type Input, type Option } from '../command.ts';
import { eventLine } from '../events/event-line.ts';
import { followEvents, type Following, type StreamNews } from '../events/follow-events.ts';

/** Which events of the log a command is about, and where it begins. */
export const followingOptions = {
  types: { value: 'TYPES', text: 'only these, e.g. filing.rejected,account.*' },
  filing: { value: 'ID', text: 'only events of this filing' },
  earliest: { text: 'begin with the oldest event in the log instead of the next one' },
  cursor: { value: 'CURSOR', text: 'begin behind this place, as a former run told it' },
} satisfies Record<string, Option>;

/** What those options say. */
export function followingOf(input: Input): Following {
  return {
    types: input.text('types'),
    filingId: input.text('filing'),
    cursor: input.text('cursor'),
    from: input.flag('earliest') ? 'earliest' : 'now',
  };
}

/** `events tail`: each event as it comes, until it is stopped. */
export const eventsTail: Command = {
  name: 'events tail',
  summary: 'show events as they come',
  usage: '',
  options: {
    ...followingOptions,
    json: { text: 'one JSON object a line, as the API writes events' },
    ...apiOptions,
  },
  examples: [
    'filing-webhooks events tail',
    'filing-webhooks events tail --earliest --types filing.rejected',
    'filing-webhooks events tail --json | jq \'select(.data.status == "REJECTED") | .data.rejectionReason\'',
  ],
  async run(input, context) {
    atMost(input, 0);
    const client = createApiClient(input, context);
    const asJson = input.flag('json');
    const news = tellStream(context, `Events of account ${client.account} at ${client.url}; Ctrl-C ends.`);
    let cursor = input.text('cursor');
    for await (const event of followEvents(client, followingOf(input), context.signal, news)) {
      context.out(asJson ? event.json : eventLine(event.json, null));
      ({ cursor } = event);
    }
    if (cursor !== null) context.note(`Continue from here with --cursor ${cursor}`);
    return exitCodes.ok;
  },
};

/** Tells the user how the stream fares: `ready` when it is open for the first time. */
export function tellStream(context: Context, ready: string): StreamNews {
  let told = false;
  return {
    opened() {
      // Streams end every quarter of an hour, and nobody needs to know.
      if (!told) context.note(ready);
      told = true;
    },
    broken(reason) {
      context.note(`${reason} Trying again.`);
    },
  };
}
