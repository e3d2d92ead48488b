import type { Static } from 'typebox';
import { byName, type UnreadableAccount } from '../../accounts/account-slices.ts';
import { KeyNeededError } from '../../accounts/account-store.ts';
import type { Account } from '../../accounts/account.ts';
import { thinSamples } from '../../filings/count-history.ts';
import { isKnownStatus, knownStatuses } from '../../partner/filing-statuses.ts';
import { standingDoubt } from '../../polling/doubt/doubt.ts';
import { healthState, latePolls } from '../../polling/health.ts';
import { noMarks, type PollingMarks } from '../../polling/store/marks.ts';
import { quotaBytesMax } from '../../redis/quota/account-quota.ts';
import { toUnreadable } from '../../redis/unreadable-record.ts';
import { callerOf } from '../access/auth.ts';
import { createLimit, defaultLimits } from '../access/limits.ts';
import type { ApiDeps, Api } from '../deps.ts';
import {
  acceptFindings,
  type accountPatchSchema,
  accountSchema,
  deleteAccount,
  getAccount,
  getCounts,
  listAccounts,
  patchAccount,
  pollAccount,
  putAccount,
  toStalledAfter,
} from './schema.ts';
import { headersOnly, sendPage } from '../shared/paging.ts';
import { invalidRequest, notFound, Problem } from '../shared/problem.ts';
import { show } from '../shared/schema.ts';

const hoursDefault = 24;
// Maximum number of samples; a chart cannot show more.
const samplesMax = 200;

/** The accounts whose filings are watched. */
export function addAccountRoutes(app: Api, deps: ApiDeps): void {
  const { accounts, countHistory, hooks, now } = deps;

  app.get('/accounts', { config: { operatorOnly: true }, schema: listAccounts }, async (request, reply) =>
    sendPage(request, reply, 'accounts', async (after, limit) => {
      const page = await accounts.page(after ?? '', limit);
      const found = byName([...page.accounts, ...page.unreadable]);
      const items = found.map(async (each) => ('error' in each ? brokenView(deps, each) : view(deps, each)));
      return { items: await Promise.all(items), next: page.hasMore ? (found.at(-1)?.account ?? null) : null };
    }),
  );

  app.put(
    '/accounts/:account',
    { config: { operatorOnly: true, accountMayBeNew: true }, schema: putAccount },
    async ({ params: { account }, body }, reply) => {
      const { created } = await accounts.put(account, toSettings(body), now());
      if (created) void reply.code(201).header('location', `/v1/accounts/${account}`);
      return saved(deps, account);
    },
  );

  app.patch(
    '/accounts/:account',
    { config: { operatorOnly: true }, schema: patchAccount },
    async ({ params: { account }, body }) => {
      const isThere = await accounts.patch(account, toChanges(body), now()).catch((error: unknown) => {
        if (error instanceof KeyNeededError) throw keyNeeded;
        throw error;
      });
      if (!isThere) throw notFound('account_not_found');
      return saved(deps, account);
    },
  );

  app.get('/accounts/:account', { schema: getAccount }, async ({ params: { account } }) =>
    view(deps, await requireStored(deps, account)),
  );

  app.get('/accounts/:account/counts', { schema: getCounts }, async (request, reply) => {
    if (request.method === 'HEAD') return headersOnly(reply);
    const { hours = hoursDefault } = request.query;
    const samples = await countHistory.read(request.params.account, now() - hours * 3_600_000);
    return {
      items: thinSamples(samples, samplesMax).map(({ at, counts }) => ({
        at: new Date(at).toISOString(),
        counts,
      })),
    };
  });

  app.delete(
    '/accounts/:account',
    { config: { operatorOnly: true, accountMayBeNew: true }, schema: deleteAccount },
    async ({ params: { account } }, reply) => {
      const removed = await accounts.remove(account);
      await hooks.accountRemoved(account);
      if (!removed) throw notFound('account_not_found');
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/accounts/:account/accept',
    { config: { operatorOnly: true }, schema: acceptFindings },
    async ({ params: { account } }, reply) => {
      await acceptDoubt(deps, account);
      // The poll has to find all changes that were held back, including those of settled filings.
      await hooks.pollNow(account, 'sweep');
      void reply.code(202);
      return view(deps, await requireStored(deps, account));
    },
  );

  const polls = createLimit(
    { ...defaultLimits, ...deps.limits }.polls,
    'This account asks for too many polls; those of its schedule go on.',
  );
  app.post('/accounts/:account/poll', { schema: pollAccount }, async (request, reply) => {
    const {
      params: { account },
      query: { mode = 'delta' },
    } = request;
    if (callerOf(request)?.kind === 'account') await polls.count(account);
    await hooks.pollNow(account, mode);
    void reply.code(202);
    return { account, mode };
  });
}

// A poll may have found another doubt meanwhile that the operator has not seen.
async function acceptDoubt({ polling }: ApiDeps, account: string): Promise<void> {
  const doubt = standingDoubt(await polling.read(account));
  if (doubt?.accepted === true || (doubt !== null && (await polling.accept(account, doubt)))) return;
  throw new Problem('nothing_doubted', 'Nothing of this account is held back; its health says what is.');
}

const keyNeeded = invalidRequest([
  { path: 'partnerKey', message: 'is needed too, because baseUrl moves to another origin' },
]);

// The account after a change, with the outcome of a look at the partner service.
async function saved(deps: ApiDeps, name: string) {
  const account = await requireStored(deps, name);
  // The failure of either is the request's, whichever comes first.
  const [check] = await Promise.all([deps.hooks.checkPartner(name), deps.hooks.accountSaved(account)]);
  return { ...(await view(deps, account)), check };
}

function toChanges({ baseUrl, stalledAfter, ...rest }: Static<typeof accountPatchSchema>) {
  return {
    ...rest,
    ...(baseUrl === undefined ? {} : { baseUrl: withoutSlash(baseUrl) }),
    ...(stalledAfter === undefined ? {} : { stalledAfter: toStalledAfter(stalledAfter) }),
  };
}

function withoutSlash(baseUrl: string): string {
  return new URL(baseUrl).href.replace(/(?<!\/)\/+$/, '');
}

function toSettings(body: {
  baseUrl: string;
  partnerKey: string;
  pollIntervalMs?: number;
  sweepIntervalMs?: number;
  stalledAfter?: Readonly<Record<string, string>> | null;
}) {
  return {
    baseUrl: withoutSlash(body.baseUrl),
    partnerKey: body.partnerKey,
    pollIntervalMs: body.pollIntervalMs ?? null,
    sweepIntervalMs: body.sweepIntervalMs ?? null,
    stalledAfter: toStalledAfter(body.stalledAfter ?? null),
  };
}

async function view({ snapshot, polling, quota, now, accountLimits }: ApiDeps, account: Account) {
  const [counts, marks, used] = await Promise.all([
    orUnreadable(snapshot.counts(account.account)),
    orUnreadable(polling.read(account.account)),
    orUnreadable(quota(account.account)),
  ]);
  const wrong = [counts, marks, used].find((each) => each instanceof Error);
  const known = marks instanceof Error ? noMarks : marks;
  const shown = wrong === undefined ? known : { ...known, lastError: wrong.message };
  const stored = {
    counts: counts instanceof Error ? {} : counts,
    usedBytes: used instanceof Error ? 0 : used,
  };
  return accountView(account, stored, shown, now(), accountLimits);
}

const nothing = { counts: {}, usedBytes: 0 };

// Only the account's name is known.
async function brokenView({ now, accountLimits }: ApiDeps, { account, error }: UnreadableAccount) {
  const unknown = {
    account,
    incarnation: '',
    baseUrl: '',
    pollIntervalMs: 0,
    sweepIntervalMs: 0,
    stalledAfter: null,
  };
  const marks = { ...noMarks, lastError: `${error.message}; PUT repairs it, DELETE removes it` };
  return accountView({ ...unknown, createdAt: 0, updatedAt: 0 }, nothing, marks, now(), accountLimits);
}

async function orUnreadable<T>(read: Promise<T>): Promise<T | Error> {
  try {
    return await read;
  } catch (error) {
    const unreadable = toUnreadable(error);
    if (unreadable === null) throw error;
    return unreadable;
  }
}

async function requireStored({ accounts }: ApiDeps, name: string): Promise<Account> {
  const account = await accounts.get(name);
  if (account === null) throw notFound('account_not_found');
  return account;
}

/**
 * An account as the API shows it; pure. `now` is in milliseconds on Redis's clock; `maxRps` is the maximum
 * number of requests per second, `attemptsBytesMax` the maximum bytes of attempts and dead letters.
 */
function accountView(
  account: Account,
  { counts, usedBytes }: { counts: Readonly<Record<string, number>>; usedBytes: number },
  marks: PollingMarks,
  now: number,
  { maxRps, attemptsBytesMax }: { readonly maxRps: number; readonly attemptsBytesMax: number },
): Static<typeof accountSchema> {
  return show(accountSchema, {
    ...account,
    counts: countsView(counts, marks.lastCompletePollAt > 0),
    quota: {
      usedBytes,
      maxBytes: quotaBytesMax + attemptsBytesMax,
      dropped: {
        attemptsAt: marks.attemptsDroppedAt,
        deadLettersAt: marks.deadLettersDroppedAt,
        eventsAt: marks.eventsDroppedAt,
      },
    },
    health: {
      ...marks,
      state: healthState(marks, account.pollIntervalMs, account.createdAt, now),
      lastError: marks.lastError || null,
      doubt: standingDoubt(marks),
      late: latePolls(marks, account.pollIntervalMs),
    },
    requests: {
      total: marks.requestsTotal,
      lastPoll: marks.requestsLastPoll,
      budget: Math.max(1, Math.floor((maxRps * account.pollIntervalMs) / 1000)),
    },
  });
}

// The known statuses (docs/partner.md#statuses) are always there, others only while a filing has them. Until
// a poll has read everything no number is known: 0 would say that nothing is rejected.
function countsView(
  counts: Readonly<Record<string, number>>,
  isRead: boolean,
): Record<string, number | null> {
  const others = Object.keys(counts).filter((status) => counts[status] !== 0 && !isKnownStatus(status));
  return Object.fromEntries(
    [...knownStatuses, ...others].map((status) => [status, isRead ? (counts[status] ?? 0) : null]),
  );
}
