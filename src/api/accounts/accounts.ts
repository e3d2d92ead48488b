import { Type } from 'typebox';
import { thinSamples } from '../../filings/count-history.ts';
import { standingDoubt } from '../../polling/beliefs/doubt.ts';
import { tokenOf } from '../access/auth.ts';
import { createLimit, defaultLimits } from '../access/limits.ts';
import type { Api, ApiDeps } from '../deps.ts';
import * as s from '../shared/schema.ts';
import { accountSchema, accountView, brokenView, countsByStatus, requireStored } from './view.ts';
import { headersOnly, sendPage } from '../shared/paging.ts';
import { notFound, Problem } from '../shared/problem.ts';

const hoursDefault = 24;
// Maximum number of samples; a chart cannot show more.
const samplesMax = 200;

/** The accounts whose filings are watched. */
export function addAccountRoutes(app: Api, deps: ApiDeps): void {
  const { accounts, countHistory, hooks, now } = deps;

  app.get('/accounts', listAccounts, async (request, reply) =>
    sendPage(request, reply, 'accounts', async (after, limit) => {
      const { records, hasMore } = await accounts.page(after ?? '', limit);
      const items = records.map(async (each) =>
        'error' in each ? brokenView(deps, each) : accountView(deps, each),
      );
      return { items: await Promise.all(items), next: hasMore ? (records.at(-1)?.account ?? null) : null };
    }),
  );

  app.get('/accounts/:account', getAccount, async ({ params: { account } }) =>
    accountView(deps, await requireStored(deps, account)),
  );

  app.get('/accounts/:account/counts', getCounts, async (request, reply) => {
    if (request.method === 'HEAD') return headersOnly(reply);
    const { hours = hoursDefault } = request.query;
    const samples = await countHistory.read(request.params.account, now() - hours * 3_600_000);
    return s.show(countsAnswerSchema, { items: thinSamples(samples, samplesMax) });
  });

  app.delete('/accounts/:account', deleteAccount, async ({ params: { account } }, reply) => {
    const removed = await accounts.remove(account);
    await hooks.accountRemoved(account);
    if (!removed) throw notFound('account_not_found');
    return reply.code(204).send(null);
  });

  app.post('/accounts/:account/accept', acceptFindings, async ({ params: { account } }, reply) => {
    await acceptDoubt(deps, account);
    // The poll has to find all changes that were held back, including those of settled filings.
    await hooks.pollNow(account, 'sweep');
    void reply.code(202);
    return accountView(deps, await requireStored(deps, account));
  });

  const polls = createLimit(
    { ...defaultLimits, ...deps.limits }.polls,
    'This account asks for too many polls; those of its schedule go on.',
  );
  app.post('/accounts/:account/poll', pollAccount, async (request, reply) => {
    const { account } = request.params;
    const { mode = 'delta' } = request.query;
    if (tokenOf(request) !== null) await polls.count(account);
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

/** Query of GET …/counts. */
const countsQuerySchema = s.record(
  s.optional({
    hours: Type.Integer({
      minimum: 1,
      maximum: 168,
      default: 24,
      description: 'Hours back from now; at most a week.',
    }),
  }),
);

/** Response of GET …/counts. */
export const countsAnswerSchema = s.described(
  'Oldest first, at most 200. There is one for each minute of the last six hours, and for each tenth minute before, in which the account was polled.',
  { items: Type.Array(s.record({ at: s.time('When, to the minute.'), counts: countsByStatus })) },
);

/** Query of POST …/poll. */
const pollQuerySchema = s.record(
  s.optional({
    mode: s.oneOf(['delta', 'sweep'], {
      default: 'delta',
      description: '`sweep` reads every filing, `delta` what may have changed.',
    }),
  }),
);

/** Response of POST …/poll. */
const pollAnswerSchema = s.described('The poll starts as soon as a worker is free.', {
  account: Type.String(),
  mode: s.oneOf(['delta', 'sweep']),
});

const listAccounts = s.operation({
  config: { operatorOnly: true },
  operationId: 'listAccounts',
  summary: 'List accounts',
  description: 'By name.',
  querystring: s.record(s.pageQuery),
  response: { 200: s.listOf(accountSchema, 'Accounts by name.') },
});

const getAccount = s.operation({
  operationId: 'getAccount',
  summary: 'Settings, counts and health of an account',
  description: 'Counts and health are as of the last complete poll.',
  params: s.inAccount,
  response: { 200: s.answer(accountSchema, 'The account.') },
});

const getCounts = s.operation({
  operationId: 'getCounts',
  summary: 'Filings by status over the past hours or days',
  description: 'Points are kept for a week.',
  params: s.inAccount,
  querystring: countsQuerySchema,
  response: { 200: countsAnswerSchema },
});

const deleteAccount = s.operation({
  config: { operatorOnly: true, accountMayBeNew: true },
  operationId: 'deleteAccount',
  summary: 'Stop polling and remove everything of an account',
  description: 'Its filings, events, subscriptions and tokens are removed for good.',
  params: s.inAccount,
  response: { 204: { type: 'null', description: 'Removed.' } },
});

const acceptFindings = s.operation({
  config: { operatorOnly: true },
  operationId: 'acceptFindings',
  summary: 'Accept what the polls find and do not believe',
  description:
    'For an account whose health is `doubtful`: confirms what `health.doubt` describes. The account is polled at once, and everything that was held back is reported, ' +
    'in order. Nothing is held back for that reason until the doubt has ended; afterwards the checks apply as before. Safe to repeat.',
  params: s.inAccount,
  response: {
    202: s.answer(accountSchema, 'Accepted; the poll starts as soon as a worker is free.'),
    409: s.conflict,
  },
});

const pollAccount = s.operation({
  operationId: 'pollAccount',
  summary: 'Poll an account now',
  description:
    'The poll is queued, and one that runs already counts for it. `lastCompletePollAt` in the health of the account shows when it was done.',
  params: s.inAccount,
  querystring: pollQuerySchema,
  response: { 202: pollAnswerSchema },
});
