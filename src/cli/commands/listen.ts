import { styleText } from 'node:util';
import { generateSecret } from '../../subscriptions/signing-secret.ts';
import { apiOptions, createApiClient } from '../api-client.ts';
import { CliError, exitCodes } from '../cli-error.ts';
import { addressFrom, atMost, type Command, type Input } from '../command.ts';
import { eventLine } from '../events/event-line.ts';
import type { FollowedEvent } from '../events/follow-events.ts';
import { followingOptions, showEvents } from '../events/following-options.ts';
import { readKey } from '../events/callback-keys.ts';
import { type KeyObject } from 'node:crypto';
import packageJson from '../../../package.json' with { type: 'json' };
import { signedHeaders } from '../../callbacks/sign.ts';

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
    const to = addressFrom(receiver, '--forward-to');
    const given = input.text('secret') ?? (context.env['FILING_WEBHOOKS_SECRET'] || null);
    // A given secret is not printed: the user knows it.
    const made = given === null ? generateSecret() : null;
    const key = readKey('secret', given ?? made ?? '');
    const client = createApiClient(input, context);
    const asJson = input.flag('json');
    await showEvents(client, input, context, {
      ready: `Events of account ${client.account} at ${client.url} go to ${to}; Ctrl-C ends.
${made === null ? 'They are signed with the secret that was given.' : `Secret for your receiver: ${made}`}`,
      again: made === null ? '' : ` --secret ${made}`,
      async line(event) {
        const forwarded = await forwardEvent(event, to, key, context.signal);
        return asJson ? JSON.stringify({ id: event.id, ...forwarded }) : forwardedLine(event, forwarded);
      },
    });
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

/** The response of a local receiver to an event. */
type Forwarded =
  | { readonly kind: 'answered'; readonly status: number; readonly durationMs: number }
  | { readonly kind: 'failed'; readonly reason: string };

const timeoutMs = 15_000;

/**
 * Posts an event as the daemon would post it (docs/webhooks.md), signed now with the key. A redirect is a
 * response like any other.
 */
async function forwardEvent(
  event: FollowedEvent,
  to: string,
  key: KeyObject,
  signal: AbortSignal,
): Promise<Forwarded> {
  const body = Buffer.from(event.json);
  const startedAt = performance.now();
  try {
    const response = await fetch(to, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': `filing-webhooks/${packageJson.version}`,
        ...signedHeaders([key], event.id, Math.floor(Date.now() / 1000), body),
      },
      body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
    });
    await response.body?.cancel();
    return {
      kind: 'answered',
      status: response.status,
      durationMs: Math.round(performance.now() - startedAt),
    };
  } catch (error) {
    return { kind: 'failed', reason: reasonOf(error) };
  }
}

function reasonOf(error: unknown): string {
  const { name, message, cause } = error as Error & { cause?: { code?: string; message?: string } };
  if (name === 'TimeoutError') return `no answer within ${timeoutMs / 1000} seconds`;
  return cause?.code === 'ECONNREFUSED' ? 'nothing listens there' : (cause?.message ?? message);
}
