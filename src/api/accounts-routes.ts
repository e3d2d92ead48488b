import { Type } from 'typebox';
import type { Account } from '../accounts/account-store.ts';
import { accountView } from './account-view.ts';
import {
  accountInputSchema,
  accountListSchema,
  newAccountParams,
  pollAnswerSchema,
  pollQuerySchema,
} from './accounts-schema.ts';
import type { Api } from './api-instance.ts';
import { accountParams, bodyProblems, pageLimit, pageQuery, problems, record } from './common-schema.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import type { ApiDeps } from './deps.ts';
import { Problem } from './problem.ts';

const tags = ['Accounts'];
const params = Type.Object(accountParams);
const one = Type.Unsafe({ $ref: 'Account#' });

/** The accounts whose filings are watched. */
export function addAccountRoutes(app: Api, deps: ApiDeps): void {
  const { accounts, hooks, now } = deps;

  app.get(
    '/accounts',
    {
      config: { operatorOnly: true },
      schema: {
        tags,
        operationId: 'listAccounts',
        summary: 'List accounts',
        querystring: record(pageQuery),
        response: { 200: accountListSchema, ...problems(422) },
      },
    },
    async ({ query: { limit = pageLimit, cursor } }) => {
      const after = decodeCursor('accounts', cursor) ?? '';
      const following = (await accounts.list()).filter(({ account }) => account > after);
      const page = following.slice(0, limit);
      const last = following.length > limit ? page.at(-1) : undefined;
      return {
        items: await Promise.all(page.map(async (account) => view(deps, account))),
        nextCursor: last === undefined ? null : encodeCursor('accounts', last.account),
      };
    },
  );

  app.put(
    '/accounts/:account',
    {
      config: { operatorOnly: true, accountMayBeNew: true },
      schema: {
        tags,
        operationId: 'putAccount',
        summary: 'Create an account or replace its settings',
        description:
          'A new account is polled at once; its first complete poll is the silent baseline. Replacing the settings keeps what is known of ' +
          'the filings. Intervals that are left out are those of the deployment.',
        params: newAccountParams,
        body: accountInputSchema,
        response: { 200: one, 201: one, ...problems(...bodyProblems) },
      },
    },
    async ({ params: { account }, body }, reply) => {
      const { created } = await accounts.put(account, toSettings(body), now());
      const saved = await requireStored(deps, account);
      await hooks.accountSaved(saved);
      if (created) void reply.code(201).header('location', `/v1/accounts/${account}`);
      return view(deps, saved);
    },
  );

  app.get(
    '/accounts/:account',
    {
      schema: {
        tags,
        operationId: 'getAccount',
        summary: 'Settings, counts and health of an account',
        params,
        response: { 200: one, ...problems() },
      },
    },
    async ({ params: { account } }) => view(deps, await requireStored(deps, account)),
  );

  app.delete(
    '/accounts/:account',
    {
      config: { operatorOnly: true, accountMayBeNew: true },
      schema: {
        tags,
        operationId: 'deleteAccount',
        summary: 'Stop polling and remove everything of an account',
        description: 'Its filings, events, subscriptions and tokens go with it, for good.',
        params,
        response: { 204: { type: 'null', description: 'Removed.' }, ...problems() },
      },
    },
    async ({ params: { account } }, reply) => {
      const removed = await accounts.remove(account);
      await hooks.accountRemoved(account);
      if (!removed) throw accountNotFound();
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/accounts/:account/poll',
    {
      schema: {
        tags,
        operationId: 'pollAccount',
        summary: 'Poll an account now',
        params,
        querystring: pollQuerySchema,
        response: { 202: pollAnswerSchema, ...problems(403, 422) },
      },
    },
    async ({ params: { account }, query: { mode = 'delta' } }, reply) => {
      await hooks.pollNow(account, mode);
      void reply.code(202);
      return { account, mode };
    },
  );
}

function toSettings(body: {
  baseUrl: string;
  partnerKey: string;
  pollIntervalMs?: number;
  sweepIntervalMs?: number;
}) {
  return {
    baseUrl: new URL(body.baseUrl).href.replace(/\/+$/, ''),
    partnerKey: body.partnerKey,
    pollIntervalMs: body.pollIntervalMs ?? null,
    sweepIntervalMs: body.sweepIntervalMs ?? null,
  };
}

async function view({ snapshot, polling, now }: ApiDeps, account: Account) {
  const [counts, marks] = await Promise.all([
    snapshot.counts(account.account),
    polling.read(account.account),
  ]);
  return accountView(account, counts, marks, now());
}

async function requireStored({ accounts }: ApiDeps, name: string): Promise<Account> {
  const account = await accounts.get(name);
  if (account === null) throw accountNotFound();
  return account;
}

function accountNotFound(): Problem {
  return new Problem(
    'account_not_found',
    'GET /v1/accounts lists the accounts; PUT on this path creates it.',
  );
}
