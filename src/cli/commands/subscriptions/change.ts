import { apiOptions, createApiClient, type ApiClient } from '../../daemon/api-client.ts';
import { printable } from '../../../demo/callback-line.ts';
import { exitCodes } from '../../cli-error.ts';
import { agree, onlyArgument, spanOf, yesOption, type Command, type Input } from '../../command.ts';

const example = 'sub_3f0c9b7a51d24e6f8a90b1c2d3e4f506';
const options = { json: { text: 'the answer as a JSON object' }, ...apiOptions };

const pathOf = (input: Input) => `/subscriptions/${encodeURIComponent(onlyArgument(input, 'ID'))}`;

/** `subscriptions delete`: removes a subscription, after a question. */
export const deleteSubscription: Command = {
  name: 'subscriptions delete',
  summary: 'remove a subscription; what it has not got is given up',
  usage: 'ID',
  options: { ...yesOption, ...apiOptions },
  examples: [`filing-webhooks subscriptions delete ${example} --yes`],
  async run(input, context) {
    const path = pathOf(input);
    const client = createApiClient(input, context);
    const { url, lag } = await client.get<{ url: string; lag: number }>(path);
    await agree(input, context, `Delete the subscription of ${url}? ${lag} pending deliveries are given up.`);
    await client.send('DELETE', path);
    context.out(`${input.positionals[0]} is deleted.`);
    return exitCodes.ok;
  },
};

/** `subscriptions enable`: goes on with deliveries where they stopped. */
export const enableSubscription = changing('enable', 'deliver again, from where it stopped', (client, path) =>
  client.send('PATCH', path, { enabled: true }),
);

/** `subscriptions disable`: stops deliveries; events wait in the log. */
export const disableSubscription = changing(
  'disable',
  'deliver nothing until it is enabled again',
  (client, path) => client.send('PATCH', path, { enabled: false }),
);

/** `subscriptions resume`: ends the pause of an endpoint, and makes retries due. */
export const resumeSubscription = changing(
  'resume',
  'try now what waits for a pause or a retry',
  (client, path) => client.send('POST', `${path}/resume`),
);

function changing(
  verb: 'enable' | 'disable' | 'resume',
  summary: string,
  change: (client: ApiClient, path: string) => Promise<{ state: string; lag: number }>,
): Command {
  return {
    name: `subscriptions ${verb}`,
    summary,
    usage: 'ID',
    options,
    examples: [`filing-webhooks subscriptions ${verb} ${example}`],
    async run(input, context) {
      const path = pathOf(input);
      const changed = await change(createApiClient(input, context), path);
      const line = `${input.positionals[0]} is ${changed.state}, with ${changed.lag} pending deliveries.`;
      context.out(input.flag('json') ? JSON.stringify(changed, null, 2) : line);
      return exitCodes.ok;
    },
  };
}

interface Ping {
  readonly outcome: string;
  readonly reason: string | null;
  readonly statusCode: number | null;
  readonly durationMs: number;
  readonly response: string | null;
}

/** `subscriptions test`: sends one `ping`; ends with 1 unless it was delivered. */
export const testSubscription: Command = {
  name: 'subscriptions test',
  summary: 'send one ping and show the response',
  usage: 'ID',
  options,
  examples: [`filing-webhooks subscriptions test ${example}`],
  async run(input, context) {
    const path = pathOf(input);
    const client = createApiClient(input, context);
    const ping = await client.send<Ping>('POST', `${path}/test`);
    context.out(input.flag('json') ? JSON.stringify(ping, null, 2) : pingLine(ping));
    return ping.outcome === 'delivered' ? exitCodes.ok : exitCodes.no;
  },
};

// Maximum characters of a response, of which the API gives a kilobyte: as JSON it is longer.
const responseMax = 8_192;

/** A ping in words. No text of the receiver can move the cursor of the terminal. */
export function pingLine({ outcome, reason, statusCode, durationMs, response }: Ping): string {
  const status = statusCode === null ? 'no response' : `status ${statusCode}`;
  const body =
    response === null || response === '' ? '' : `\n${printable(JSON.stringify(response), responseMax)}`;
  return `${outcome}: ${status} in ${Math.round(durationMs)} ms${reason === null ? '' : `. ${reason}`}${body}`;
}

/** `subscriptions rotate-secret`: makes a new secret; the former one stays valid for a while. */
export const rotateSecret: Command = {
  name: 'subscriptions rotate-secret',
  summary: 'make a new secret, shown once; the former one stays valid for a while',
  usage: 'ID',
  options: {
    grace: { value: 'SPAN', text: 'how long the former secret stays valid, e.g. 2h (default: 24h)' },
    ...yesOption,
    ...options,
  },
  examples: [`filing-webhooks subscriptions rotate-secret ${example} --grace 2h --yes`],
  async run(input, context) {
    const path = pathOf(input);
    const grace = spanOf(input, 'grace');
    const client = createApiClient(input, context);
    await agree(input, context, `Make a new secret for ${input.positionals[0]}?`);
    const rotated = await rotate(client, path, grace);
    const { secret, publicKeys = [] } = rotated;
    const lines = [
      ...(secret === null ? [] : [`Secret  ${secret}`]),
      ...publicKeys.slice(0, 1).map(({ key }) => `Key     ${key}`),
    ];
    context.out(input.flag('json') ? JSON.stringify(rotated, null, 2) : lines.join('\n'));
    if (secret !== null) context.note('The secret is shown only now: give it to the receiver.');
    return exitCodes.ok;
  },
};

interface Rotated {
  /** Null with `v1a` alone. */
  readonly secret: string | null;
  /** The new one first; absent without `v1a`. */
  readonly publicKeys?: readonly { readonly key: string }[];
}

function rotate(client: ApiClient, path: string, graceMs: number | null) {
  return client.post<Rotated>(`${path}/rotate-secret`, graceMs === null ? {} : { graceMs });
}
