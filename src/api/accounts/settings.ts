import { type Static, Type } from 'typebox';
import { Check } from 'typebox/value';
import { KeyNeededError } from '../../accounts/account-store.ts';
import { digestProblem } from '../../accounts/digest.ts';
import { accountNamePattern, noneSet } from '../../accounts/account.ts';
import { stayRuleProblem } from '../../filings/detection/stay-limits.ts';
import { isIndexed } from '../../partner/filing-statuses.ts';
import type { Api, ApiDeps } from '../deps.ts';
import * as s from '../shared/schema.ts';
import { dueInput, problemByName, storedByName } from './due-settings.ts';
import {
  accountView,
  baseUrl,
  digestFields,
  digestText,
  pollIntervalMs,
  requireStored,
  savedAccountSchema,
  stalledAfterText,
  stayRule,
  sweepIntervalMs,
} from './view.ts';
import { accountNameWords, partnerKeyPattern } from '../shared/patterns.ts';
import { invalidValue, notFound } from '../shared/problem.ts';

/** The routes that set up accounts. */
export function addSettingRoutes(app: Api, deps: ApiDeps): void {
  const { accounts, now } = deps;

  app.put('/accounts/:account', putAccount, async ({ params: { account }, body }, reply) => {
    const { partnerKey: key, ...others } = body;
    const settings = {
      pollIntervalMs: null,
      sweepIntervalMs: null,
      ...noneSet,
      ...toChanges(others),
      baseUrl: withoutSlash(body.baseUrl),
      partnerKey: key,
    };
    const { created } = await accounts.put(account, settings, now());
    if (created) void reply.code(201).header('location', `/v1/accounts/${account}`);
    return saved(deps, account);
  });

  app.patch('/accounts/:account', patchAccount, async ({ params: { account }, body }) => {
    const isThere = await accounts.patch(account, toChanges(body), now()).catch((error: unknown) => {
      if (error instanceof KeyNeededError) throw keyNeeded;
      throw error;
    });
    if (!isThere) throw notFound('account_not_found');
    return saved(deps, account);
  });
}

const keyNeeded = invalidValue('partnerKey', 'is needed too, because baseUrl moves to another origin');

// The account after a change, with the outcome of a look at the partner service.
async function saved(deps: ApiDeps, name: string) {
  const account = await requireStored(deps, name);
  // The failure of either is the request's, whichever comes first.
  const [check] = await Promise.all([deps.hooks.checkPartner(name), deps.hooks.accountSaved(account)]);
  return { ...(await accountView(deps, account)), check };
}

function withoutSlash(url: string): string {
  return new URL(url).href.replace(/(?<!\/)\/+$/, '');
}

function toChanges(change: Static<typeof accountPatchSchema>) {
  const { baseUrl: given, stalledAfter, due, ...rest } = change;
  return {
    ...rest,
    ...(given === undefined ? {} : { baseUrl: withoutSlash(given) }),
    ...(stalledAfter === undefined ? {} : { stalledAfter: storedByName(stalledAfter) }),
    ...(due === undefined ? {} : { due: storedByName(due) }),
  };
}

// Maximum number of statuses with a limit.
const statusesMax = 20;
const statusPattern = /^[A-Z][A-Z0-9_]{0,63}$/;

/** The limits of an account as they are given; statuses in any case. */
const stalledAfterInput = s.checked(
  s.nullable(
    Type.Record(Type.String({ maxLength: 64 }), stayRule, {
      maxProperties: statusesMax,
    }),
    stalledAfterText,
  ),
  (rules) => problemByName(rules, statusProblem),
);

function statusProblem(status: string, rule: unknown): string | null {
  if (!statusPattern.test(status)) return 'is no status: give letters, digits and _, such as PENDING';
  if (!isIndexed(status)) return 'cannot have a limit: it is where filings stay for good';
  return Check(stayRule, rule) ? stayRuleProblem(status, rule) : null;
}

/** The schedule of a digest as it is given. */
const digestInput = s.checked(s.nullable(digestFields, digestText), (schedule) =>
  schedule === null ? null : digestProblem(schedule),
);

/** The account that a PUT names: its name becomes part of keys, paths and metric labels. */
const newAccountParams = Type.Object({
  account: Type.String({
    pattern: accountNamePattern,
    description: `${accountNameWords}.`,
    examples: ['default'],
  }),
});

const baseUrlInput = s.checked(baseUrl, (text) => (typeof text === 'string' ? baseUrlProblem(text) : null));

const partnerKey = Type.String({
  pattern: partnerKeyPattern,
  description:
    'The key that the partner service gave you, 1 to 512 printable ASCII characters. It is sealed and never returned.',
  examples: ['sandbox-key'],
});

/** Body of PATCH /v1/accounts/{account}: the settings that change. */
const accountPatchSchema = s.record(
  s.optional({
    baseUrl: baseUrlInput,
    partnerKey,
    pollIntervalMs: s.nullable(pollIntervalMs),
    sweepIntervalMs: s.nullable(sweepIntervalMs),
    stalledAfter: stalledAfterInput,
    digest: digestInput,
    ...dueInput,
  }),
);

/** Body of PUT /v1/accounts/{account}. */
const accountInputSchema = s.record({
  baseUrl: baseUrlInput,
  partnerKey,
  ...s.optional({
    pollIntervalMs,
    sweepIntervalMs,
    stalledAfter: stalledAfterInput,
    digest: digestInput,
    ...dueInput,
  }),
});

/** The problem with the address of a partner service, null for a valid one; pure. */
export function baseUrlProblem(text: string): string | null {
  const url = /^https?:\/\/[^/]/i.test(text) ? URL.parse(text) : null;
  if (url === null || /[\s\\\p{Cc}]/u.test(text)) return 'must be an absolute http:// or https:// URL';
  if (url.username !== '' || url.password !== '' || /^[^/]+\/\/[^/?#]*@/.test(text))
    return 'must not contain a user or password';
  return /[?#]/.test(text) ? 'must not have a query or fragment' : null;
}

const putAccount = s.operation({
  config: { operatorOnly: true, accountMayBeNew: true },
  operationId: 'putAccount',
  summary: 'Create an account or replace its settings',
  description:
    'A new account is polled at once; its first complete poll is the silent baseline. Replacing the settings keeps what is known of ' +
    'the filings. Intervals that are left out get the defaults of the deployment.',
  params: newAccountParams,
  body: accountInputSchema,
  response: {
    200: s.answer(savedAccountSchema, 'The account.'),
    201: s.answer(savedAccountSchema, 'Created.', { location: 'Where it is.' }),
  },
});

const patchAccount = s.operation({
  config: { operatorOnly: true },
  operationId: 'patchAccount',
  summary: 'Change single settings of an account',
  description:
    'Settings that are left out stay; null for an interval stands for the default of the deployment. A `baseUrl` of another origin ' +
    'needs `partnerKey` too, because a key is sent nowhere but to the origin that it was given for.',
  params: s.inAccount,
  body: accountPatchSchema,
  response: { 200: s.answer(savedAccountSchema, 'The account.') },
});
