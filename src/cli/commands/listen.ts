import { styleText } from 'node:util';
import { generateSecret } from '../../subscriptions/signing-secret.ts';
import { apiOptions, createApiClient } from '../daemon/api-client.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { atMost, receiverUrl, type Command, type Input } from '../command.ts';
import { eventLine } from '../events/event-line.ts';
import { followEvents, type FollowedEvent } from '../events/follow-events.ts';
import { followingOf, followingOptions, reportStream, sayIfUnknown } from '../events/following-options.ts';
import { forwardEvent, type Forwarded } from '../events/forward-event.ts';
import { readSigningKey } from '../events/signing-key.ts';

/** `listen`: relays an account's events to a receiver that the daemon cannot or must not reach. */
export const listen: Command = {
  name: 'listen',
  summary: 'relay events to a receiver on this machine, signed with a secret of its own',
  usage: '--forward-to URL',
  options: {
    'forward-to': {
      value: 'URL',
      text: 'where the receiver listens, e.g. 8080 or http://127.0.0.1:8080/hooks',
    },
    secret: {
      value: 'SECRET',
      text: 'sign with this whsec_… (FILING_WEBHOOKS_SECRET; default: a new one, printed)',
    },
    ...followingOptions,
    json: { text: 'one JSON object a line: what came of each event' },
    ...apiOptions,
  },
  examples: [
    'filing-webhooks listen --forward-to localhost:8080/hooks',
    'filing-webhooks listen --forward-to http://127.0.0.1:8080/hooks --earliest --types filing.rejected',
  ],
  async run(input, context) {
    refuseArgument(input);
    const receiver = input.text('forward-to');
    if (receiver === null)
      throw new CliError('usage', '--forward-to URL is missing: where does your receiver listen?');
    const to = receiverUrl(receiver, '--forward-to');
    const given = input.text('secret') ?? (context.env['FILING_WEBHOOKS_SECRET'] || null);
    // A given secret is not printed: the user knows it.
    const made = given === null ? generateSecret() : null;
    const key = readSigningKey(given ?? made ?? '');
    const following = followingOf(input);
    const client = createApiClient(input, context);
    const asJson = input.flag('json');
    const news = reportStream(
      context,
      `Events of account ${client.account} at ${client.url} go to ${to}; Ctrl-C ends.
${made === null ? 'They are signed with the secret that was given.' : `Secret for your receiver: ${made}`}`,
    );
    await sayIfUnknown(client, following, context);
    let cursor = input.text('cursor');
    for await (const event of followEvents(client, following, context.signal, news)) {
      const forwarded = await forwardEvent(event, to, key, context.signal);
      if (context.signal.aborted) break;
      ({ cursor } = event);
      context.out(asJson ? JSON.stringify({ id: event.id, ...forwarded }) : forwardedLine(event, forwarded));
    }
    const sameSecret = made === null ? '' : ` --secret ${made}`;
    if (cursor !== null) context.note(`Continue from here with --cursor ${cursor}${sameSecret}`);
    return exitCodes.ok;
  },
};

// The address of the receiver is often given without its option.
function refuseArgument(input: Input): void {
  const [first] = input.positionals;
  if (first !== undefined && input.text('forward-to') === null)
    throw new CliError('usage', `There is no argument "${first}"; did you mean --forward-to ${first}?`);
  atMost(input, 0);
}

function forwardedLine({ json }: FollowedEvent, forwarded: Forwarded): string {
  if (forwarded.kind === 'failed') {
    const hint = styleText('red', `  ${forwarded.reason}: it was sent once and is not sent again`);
    return eventLine(json, styleText('red', 'not delivered')) + hint;
  }
  const { status, durationMs } = forwarded;
  const colour = status >= 200 && status < 300 ? 'green' : 'red';
  return eventLine(json, styleText(colour, `→ ${status} in ${durationMs} ms`));
}
