import { Type } from 'typebox';
import {
  accountInputSchema,
  accountListSchema,
  accountPatchSchema,
  countsAnswerSchema,
  countsQuerySchema,
  newAccountParams,
  pollAnswerSchema,
  pollQuerySchema,
} from './schema.ts';
import { accountParams, answer, bodyProblems, pageQuery, problems, record } from '../shared/schema.ts';

const inAccount = Type.Object(accountParams);

/** Request and responses of GET /v1/accounts. */
export const listAccounts = {
  tags: ['Accounts'],
  operationId: 'listAccounts',
  summary: 'List accounts',
  description: 'By name. A page holds settings, counts and health of each account, never its key.',
  querystring: record(pageQuery),
  response: { 200: accountListSchema, ...problems(422) },
};

/** Request and responses of PUT /v1/accounts/{account}. */
export const putAccount = {
  tags: ['Accounts'],
  operationId: 'putAccount',
  summary: 'Create an account or replace its settings',
  description:
    'A new account is polled at once; its first complete poll is the silent baseline. Replacing the settings keeps what is known of ' +
    'the filings. Intervals that are left out get the defaults of the deployment.',
  params: newAccountParams,
  body: accountInputSchema,
  response: {
    200: answer('SavedAccount', 'The account.'),
    201: answer('SavedAccount', 'Created.', { location: 'Where it is.' }),
    ...problems(...bodyProblems),
  },
};

/** Request and responses of PATCH /v1/accounts/{account}. */
export const patchAccount = {
  tags: ['Accounts'],
  operationId: 'patchAccount',
  summary: 'Change single settings of an account',
  description:
    'Settings that are left out stay; null for an interval stands for the default of the deployment. A `baseUrl` of another origin ' +
    'needs `partnerKey` too, because a key is sent nowhere but to the origin that it was given for.',
  params: inAccount,
  body: accountPatchSchema,
  response: { 200: answer('SavedAccount', 'The account.'), ...problems(...bodyProblems) },
};

/** Request and responses of GET /v1/accounts/{account}. */
export const getAccount = {
  tags: ['Accounts'],
  operationId: 'getAccount',
  summary: 'Settings, counts and health of an account',
  description:
    'Counts and health are as of the last complete poll; before the first one nothing is known, and the counts are zero.',
  params: inAccount,
  response: { 200: answer('Account', 'The account.'), ...problems() },
};

/** Request and responses of GET /v1/accounts/{account}/counts. */
export const getCounts = {
  tags: ['Accounts'],
  operationId: 'getCounts',
  summary: 'Filings by status over the past hours or days',
  description: 'Points are kept for a week.',
  params: inAccount,
  querystring: countsQuerySchema,
  response: { 200: countsAnswerSchema, ...problems(422) },
};

/** Request and responses of DELETE /v1/accounts/{account}. */
export const deleteAccount = {
  tags: ['Accounts'],
  operationId: 'deleteAccount',
  summary: 'Stop polling and remove everything of an account',
  description: 'Its filings, events, subscriptions and tokens are removed for good.',
  params: inAccount,
  response: { 204: { type: 'null', description: 'Removed.' }, ...problems() },
};

/** Request and responses of POST /v1/accounts/{account}/accept. */
export const acceptFindings = {
  tags: ['Accounts'],
  operationId: 'acceptFindings',
  summary: 'Accept what the polls find and do not believe',
  description:
    'For an account whose health is `doubtful`: confirms what `health.doubt` describes. The account is polled at once, and everything that was held back is reported, ' +
    'in order. Nothing is held back for that reason until the doubt has ended; afterwards the checks apply as before. Safe to repeat.',
  params: inAccount,
  response: {
    202: answer('Account', 'Accepted; the poll starts as soon as a worker is free.'),
    ...problems(409),
  },
};

/** Request and responses of POST /v1/accounts/{account}/poll. */
export const pollAccount = {
  tags: ['Accounts'],
  operationId: 'pollAccount',
  summary: 'Poll an account now',
  description:
    'The poll is queued, and one that runs already counts for it. `lastCompletePollAt` in the health of the account shows when it was done.',
  params: inAccount,
  querystring: pollQuerySchema,
  response: { 202: pollAnswerSchema, ...problems(403, 422) },
};
