import { apiOptions, createApiClient } from '../daemon/api-client.ts';
import { exitCodes } from '../cli-error.ts';
import { atMost, type Command } from '../command.ts';
import { eventLine } from '../events/event-line.ts';
import { followEvents } from '../events/follow-events.ts';
import { followingOf, followingOptions, reportStream, sayIfUnknown } from '../events/following-options.ts';

/** `tail`: prints each event as it arrives, until the user stops it. */
export const tail: Command = {
  name: 'tail',
  summary: 'show events as they come',
  usage: '',
  options: {
    ...followingOptions,
    json: { text: 'one JSON object a line, as the API writes events' },
    ...apiOptions,
  },
  examples: [
    'filing-webhooks tail',
    'filing-webhooks tail --earliest --types filing.rejected',
    'filing-webhooks tail --json | jq \'select(.data.status == "REJECTED") | .data.rejectionReason\'',
  ],
  async run(input, context) {
    atMost(input, 0);
    const following = followingOf(input);
    const client = createApiClient(input, context);
    const asJson = input.flag('json');
    const news = reportStream(context, `Events of account ${client.account} at ${client.url}; Ctrl-C ends.`);
    await sayIfUnknown(client, following, context);
    let cursor = input.text('cursor');
    for await (const event of followEvents(client, following, context.signal, news)) {
      context.out(asJson ? event.json : eventLine(event.json, null));
      ({ cursor } = event);
    }
    if (cursor !== null) context.note(`Continue from here with --cursor ${cursor}`);
    return exitCodes.ok;
  },
};
