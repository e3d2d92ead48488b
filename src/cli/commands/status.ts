import { styleText } from 'node:util';
import type { Account, Page, Session, Subscription } from '../../dashboard/api-types.ts';
import { printable } from '../../demo/callback-line.ts';
import { waitReasonNames, waitReasons, type WaitReason } from '../../subscriptions/not-before.ts';
import { byRequest, expiredReason } from '../../subscriptions/subscription.ts';
import { apiOptions, createApiClient, type ApiClient, query } from '../api-client.ts';
import { exitCodes } from '../cli-error.ts';
import { atMost, type Command } from '../command.ts';

// The remedy for each reason not to send.
const remedies: Readonly<Record<WaitReason, string>> = {
  paused: 'it goes on by itself; look at the endpoint if it stays',
  rate: 'it goes on by itself; a higher `rate` or fewer events if it falls behind',
  blocked: 'change the settings as the error says',
  unverified: 'have the endpoint answer the challenge',
  proxy: 'bring EGRESS_PROXY back; it goes on by itself then',
  expired: 'set a later `expiresAt` if it is still needed',
  disabled: 'repair the endpoint, then set `enabled` to true, or wait until it is asked again',
};

/** `status`: a short overview; ends with 1 while something is wrong. */
export const status: Command = {
  name: 'status',
  summary: 'health, rejections and failing subscriptions at a glance; ends with 1 if something is wrong',
  usage: '',
  options: { json: { text: 'JSON instead of lines' }, ...apiOptions },
  examples: ['filing-webhooks status', 'filing-webhooks status --account acme || page-someone'],
  async run(input, context) {
    atMost(input, 0);
    const client = createApiClient(input, context);
    const { ready, reasons } = await readiness(client);
    const accounts = await readAccounts(client, input.text('account'));
    const overviews: Overview[] = [];
    for (const account of accounts) overviews.push(await look(client, account));
    const isWrong = !ready || overviews.some(needsSomeone);
    if (input.flag('json'))
      context.out(JSON.stringify({ ok: !isWrong, reasons, accounts: overviews }, null, 2));
    else {
      const line = (reason: string) =>
        styleText(ready ? 'yellow' : 'red', `${ready ? 'note' : 'not ready'}: ${printable(reason, 200)}`);
      context.out([...reasons.map(line), ...overviews.flatMap(linesOf)].join('\n'));
    }
    if (accounts.length === 0)
      context.note('There are no accounts: filing-webhooks api PUT /v1/accounts/NAME adds one.');
    return isWrong ? exitCodes.no : exitCodes.ok;
  },
};

// Of a daemon that is ready, `reasons` are notes. One that gives no readiness has its API asked all the same.
async function readiness(client: ApiClient): Promise<{ ready: boolean; reasons: readonly string[] }> {
  const response = await fetch(`${client.url}/health/ready`).catch(() => null);
  const body = (await response?.json().catch(() => null)) as {
    ready?: boolean;
    reasons?: readonly string[];
  } | null;
  return { ready: body?.ready ?? true, reasons: body?.reasons ?? [] };
}

// All accounts for the operator, unless one is named; an account token sees its own.
async function readAccounts(client: ApiClient, named: string | null): Promise<readonly Account[]> {
  const { account } = await client.get<Session>('/v1/session');
  const only = named ?? account;
  if (only === null) return readList<Account>(client, '/v1/accounts');
  return [await client.get<Account>(`/v1/accounts/${encodeURIComponent(only)}`)];
}

/** One account with what needs someone. */
type Overview = Awaited<ReturnType<typeof look>>;

async function look(client: ApiClient, shown: Account) {
  const path = `/v1/accounts/${encodeURIComponent(shown.account)}/subscriptions`;
  const items = await readList<Subscription>(client, path);
  return {
    account: shown.account,
    health: shown.health.state,
    lastError: shown.health.lastError ?? shown.health.late?.detail ?? null,
    /** Null while the account has never been read whole. */
    rejected: shown.open,
    subscriptions: items.length,
    failing: items.filter(isFailing),
    /** Number of subscriptions to which nothing is sent now, by the reason; reasons of none are missing. */
    notSent: countReasons(items),
  };
}

function countReasons(subscriptions: readonly Subscription[]) {
  const counts: Partial<Record<WaitReason, number>> = {};
  for (const { notBefore } of subscriptions)
    if (notBefore !== null) counts[notBefore.reason] = (counts[notBefore.reason] ?? 0) + 1;
  return counts;
}

// A subscription that was disabled by request, or has expired, is as its owner wants it.
function isFailing({ state, disabledReason }: Subscription): boolean {
  if (state !== 'disabled') return state !== 'active';
  return disabledReason !== byRequest && disabledReason !== expiredReason;
}

// Rejections are a matter of the business: they are counted, and they do not make the exit code.
function needsSomeone({ health, failing }: Overview): boolean {
  return (health !== 'ok' && health !== 'baselining') || failing.length > 0;
}

function linesOf(overview: Overview): string[] {
  const { account, health, lastError, rejected, subscriptions, failing, notSent } = overview;
  const known = rejected === null ? 'rejections not known yet' : `${rejected} rejected`;
  const colour = health === 'ok' ? 'green' : health === 'baselining' ? 'yellow' : 'red';
  return [
    `${account}  ${styleText(colour, health)}  ${known}  ${subscriptions - failing.length} of ${subscriptions} subscriptions working`,
    ...(lastError === null ? [] : [`  ${printable(lastError, 200)}`]),
    ...failing.map(
      ({ id, state, description, url, lag, lastError: why, notBefore }) =>
        `  ${styleText('red', state)}  ${id}  ${printable(description ?? url)}  ${lag} pending${why === null ? '' : `  ${printable(why, 120)}`}${askedAgain(state, notBefore)}`,
    ),
    ...waitReasonNames.flatMap((reason) => {
      const count = notSent[reason] ?? 0;
      return count === 0 ? [] : [`  ${count} ${reason}: ${waitReasons[reason]}; ${remedies[reason]}`];
    }),
  ];
}

// When the endpoint of a disabled subscription is asked again; empty if it is not.
function askedAgain(state: string, notBefore: Subscription['notBefore']): string {
  return state === 'disabled' && notBefore?.at ? `  asked again at ${printable(notBefore.at)}` : '';
}

// The items of a list, page after page.
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- The caller knows what the API lists.
async function readList<T>(client: Pick<ApiClient, 'get'>, path: string): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | null = null;
  do {
    // Each page's cursor comes from the page before.
    const page: Page<T> = await client.get(`${path}${query({ limit: '100', cursor })}`);
    items.push(...page.items);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return items;
}
