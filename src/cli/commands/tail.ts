import { apiOptions, createApiClient } from '../api-client.ts';
import { exitCodes } from '../cli-error.ts';
import { atMost, type Command } from '../command.ts';
import { eventLine } from '../events/event-line.ts';
import { followingOptions, showEvents } from '../events/following-options.ts';

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
    const client = createApiClient(input, context);
    const asJson = input.flag('json');
    await showEvents(client, input, context, {
      ready: `Events of account ${client.account} at ${client.url}; Ctrl-C ends.`,
      line: ({ json }) => (asJson ? json : eventLine(json, null)),
    });
    return exitCodes.ok;
  },
};
