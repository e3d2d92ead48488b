import type { Account } from '../accounts/account-store.ts';
import { thinSamples } from '../filings/count-history.ts';
import { standingDoubt } from '../polling/doubt.ts';
import { accountView } from './account-view.ts';
import {
  listAccounts,
  putAccount,
  getAccount,
  getCounts,
  deleteAccount,
  acceptFindings,
  pollAccount,
} from './accounts-operations.ts';
import type { Api } from './api-instance.ts';
import { pageLimit } from './common-schema.ts';
import { decodeCursor, encodeCursor } from './cursor.ts';
import type { ApiDeps } from './deps.ts';
import { accountNotFound } from './find-subscription.ts';
import { Problem } from './problem.ts';

const hoursDefault = 24;
// More than a chart has places for would only take longer.
const samplesMax = 200;

/** The accounts whose filings are watched. */
export function addAccountRoutes(app: Api, deps: ApiDeps): void {
  const { accounts, countHistory, hooks, now } = deps;

  app.get(
    '/accounts',
    {
      config: { operatorOnly: true },
      schema: listAccounts,
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
      schema: putAccount,
    },
    async ({ params: { account }, body }, reply) => {
      const { created } = await accounts.put(account, toSettings(body), now());
      const saved = await requireStored(deps, account);
      await hooks.accountSaved(saved);
      if (created) void reply.code(201).header('location', `/v1/accounts/${account}`);
      return view(deps, saved);
    },
  );

  app.get('/accounts/:account', { schema: getAccount }, async ({ params: { account } }) =>
    view(deps, await requireStored(deps, account)),
  );

  app.get(
    '/accounts/:account/counts',
    { schema: getCounts },
    async ({ params: { account }, query: { hours = hoursDefault } }) => {
      const samples = await countHistory.read(account, now() - hours * 3_600_000);
      return {
        items: thinSamples(samples, samplesMax).map(({ at, counts }) => ({
          at: new Date(at).toISOString(),
          counts,
        })),
      };
    },
  );

  app.delete(
    '/accounts/:account',
    {
      config: { operatorOnly: true, accountMayBeNew: true },
      schema: deleteAccount,
    },
    async ({ params: { account } }, reply) => {
      const removed = await accounts.remove(account);
      await hooks.accountRemoved(account);
      if (!removed) throw accountNotFound();
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/accounts/:account/accept',
    { config: { operatorOnly: true }, schema: acceptFindings },
    async ({ params: { account } }, reply) => {
      await acceptDoubt(deps, account);
      // Everything that was held back is to be found, settled filings too.
      await hooks.pollNow(account, 'sweep');
      void reply.code(202);
      return view(deps, await requireStored(deps, account));
    },
  );

  app.post(
    '/accounts/:account/poll',
    { schema: pollAccount },
    async ({ params: { account }, query: { mode = 'delta' } }, reply) => {
      await hooks.pollNow(account, mode);
      void reply.code(202);
      return { account, mode };
    },
  );
}

// A poll may tell another doubt meanwhile; that one nobody has looked at.
async function acceptDoubt({ polling }: ApiDeps, account: string): Promise<void> {
  const doubt = standingDoubt(await polling.read(account));
  if (doubt?.accepted === true || (doubt !== null && (await polling.accept(account, doubt)))) return;
  throw new Problem('nothing_doubted', 'Nothing of this account is held back; its health says what is.');
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

async function view({ snapshot, polling, now, partnerMaxRps }: ApiDeps, account: Account) {
  const [counts, marks] = await Promise.all([
    snapshot.counts(account.account),
    polling.read(account.account),
  ]);
  return accountView(account, counts, marks, now(), partnerMaxRps);
}

async function requireStored({ accounts }: ApiDeps, name: string): Promise<Account> {
  const account = await accounts.get(name);
  if (account === null) throw accountNotFound();
  return account;
}
