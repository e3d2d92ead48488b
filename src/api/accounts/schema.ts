import { Type } from 'typebox';
import { accountNamePattern } from '../../accounts/account.ts';
import { stayLimitProblem } from '../../filings/detection/stay-limits.ts';
import { cutText } from '../../json/cut-text.ts';
import { isIndexed } from '../../partner/filing-statuses.ts';
import { quotaBytesMax } from '../../redis/quota/account-quota.ts';
import * as s from '../shared/schema.ts';
import { accountNameWords, partnerKeyPattern } from '../shared/patterns.ts';

type StalledAfter = Readonly<Record<string, string>>;

// Maximum number of statuses with a limit.
const statusesMax = 20;
const statusPattern = /^[A-Z][A-Z0-9_]{0,63}$/;

const description =
  'How long a filing may stay in a status: an ISO 8601 duration (weeks, days, hours, minutes, seconds) for each, ' +
  'from one second to ten years. A filing that stays longer leads to one `filing.stalled`. Null or {}: no limits.';

const examples = [{ PENDING: 'P10D', UNPAID: 'P2W' }];

/** The limits of an account as they are shown. */
const stalledAfter = s.nullable(Type.Record(Type.String(), Type.String()), { description, examples });

/** The limits of an account as they are given; statuses in any case. */
const stalledAfterInput = Type.Refine(
  s.nullable(
    Type.Record(Type.String({ maxLength: 64 }), Type.String({ maxLength: 64 }), {
      maxProperties: statusesMax,
    }),
    { description, examples },
  ),
  (value) => stalledAfterProblem(value) === null,
  (value) => stalledAfterProblem(value) ?? '',
);

/** Limits as they are stored: statuses in upper case; null where there are none. Pure. */
export function toStalledAfter(given: StalledAfter | null): StalledAfter | null {
  const entries = Object.entries(given ?? {}).map(([status, after]) => [status.toUpperCase(), after]);
  return entries.length === 0 ? null : (Object.fromEntries(entries) as StalledAfter);
}

// Null for a value that the rest of the schema refuses, too.
function stalledAfterProblem(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const seen = new Set<string>();
  for (const [name, after] of Object.entries(value)) {
    const status = name.toUpperCase();
    const problem =
      statusProblem(status, seen) ?? (typeof after === 'string' ? stayLimitProblem(after) : null);
    if (problem !== null) return `${cutText(status, 64)} ${problem}`;
    seen.add(status);
  }
  return null;
}

function statusProblem(status: string, seen: ReadonlySet<string>): string | null {
  if (!statusPattern.test(status)) return 'is no status: give letters, digits and _, such as PENDING';
  if (seen.has(status)) return 'is given twice';
  if (!isIndexed(status)) return 'cannot have a limit: it is where filings stay for good';
  return null;
}

const day = 86_400_000;

const pollIntervalMs = Type.Integer({
  minimum: 10,
  maximum: day,
  description: 'Milliseconds between polls; the default is POLL_INTERVAL_MS.',
  examples: [15_000],
});

const sweepIntervalMs = Type.Integer({
  minimum: 10,
  maximum: 30 * day,
  description: 'Milliseconds between full sweeps; the default is SWEEP_INTERVAL_MS.',
  examples: [900_000],
});

const baseUrl = Type.String({
  maxLength: 2048,
  description: 'Address of the partner service, ending in its version segment; no user, query or fragment.',
  examples: ['https://partner.example.com/v1'],
});

/** The account that a PUT names: its name becomes part of keys, paths and metric labels. */
const newAccountParams = Type.Object({
  account: Type.String({
    pattern: accountNamePattern,
    description: `${accountNameWords}.`,
    examples: ['default'],
  }),
});

const baseUrlInput = Type.Refine(
  baseUrl,
  (text) => typeof text !== 'string' || baseUrlProblem(text) === null,
  (text) => baseUrlProblem(text) ?? '',
);

const partnerKey = Type.String({
  pattern: partnerKeyPattern,
  description:
    'The key that the partner service gave you, 1 to 512 printable ASCII characters. It is sealed and never returned.',
  examples: ['sandbox-key'],
});

/** Body of PATCH /v1/accounts/{account}: the settings that change. */
export const accountPatchSchema = s.record({
  baseUrl: Type.Optional(baseUrlInput),
  partnerKey: Type.Optional(partnerKey),
  pollIntervalMs: Type.Optional(s.nullable(pollIntervalMs)),
  sweepIntervalMs: Type.Optional(s.nullable(sweepIntervalMs)),
  stalledAfter: Type.Optional(stalledAfterInput),
});

/** Body of PUT /v1/accounts/{account}. */
const accountInputSchema = s.record({
  baseUrl: baseUrlInput,
  partnerKey,
  pollIntervalMs: Type.Optional(pollIntervalMs),
  sweepIntervalMs: Type.Optional(sweepIntervalMs),
  stalledAfter: Type.Optional(stalledAfterInput),
});

const doubt = s.record(
  {
    reason: s.oneOf(['other_account', 'other_list', 'unknown_wave', 'removal_wave', 'completed_at_wave']),
    since: s.time('When it was first doubted.'),
    accepted: s.boolean('True: the operator has accepted it, and nothing is held back any more.'),
    known: s.integer('Known filings before that poll.'),
    shown: s.integer('The known filings that its lists showed.'),
    unknown: s.integer('Filings on its lists that were never seen before.'),
    gone: s.integer('Known filings that answered 404 when last asked for.'),
    moved: s.integer('Known filings of which `completedAt` has changed and the status has not.'),
  },
  { description: 'What the polls find and do not believe; null if there is nothing.' },
);

const late = s.record(
  {
    reason: s.oneOf(['partner_budget']),
    waitedMs: s.integer(
      'Milliseconds for which the last poll waited for its turns, or the one under way so far.',
    ),
    detail: s.string('The cause and what to do.'),
  },
  {
    description:
      'Why polls are late although nothing fails: `partner_budget`, they wait longer than an interval because of PARTNER_TOTAL_RPS. Null when they do not.',
  },
);

const health = s.record(
  {
    state: s.oneOf(['baselining', 'ok', 'backing_off', 'auth_failed', 'doubtful', 'stale']),
    lastPollAt: s.timeOrNull('Start of the last poll.'),
    lastCompletePollAt: s.timeOrNull('Start of the last complete poll.'),
    lastSweepAt: s.timeOrNull('Start of the last complete sweep.'),
    consecutiveFailures: Type.Integer(),
    backoffUntil: s.timeOrNull('No scheduled poll before this time.'),
    lastError: s.stringOrNull(
      'Why the last poll failed, or what it could not read; null after one that read everything.',
    ),
    doubt: s.nullable(doubt),
    late: s.nullable(late),
  },
  { description: 'Health of the polling of this account.' },
);

const countsText =
  'Known filings by status, without removed ones; statuses that this version does not know appear when they occur.';
const countsExamples = [{ UNPAID: 3, PAID: 1, PENDING: 12, COMPLETED: 840, REJECTED: 2 }];

const countsByStatus = Type.Record(Type.String(), Type.Integer(), {
  description: countsText,
  examples: countsExamples,
});

const countsOrNull = Type.Record(Type.String(), s.nullable(Type.Integer()), {
  description: `${countsText} Each is null until the first complete poll (\`health.lastCompletePollAt\`): how many there are is not known before.`,
  examples: countsExamples,
});

const accountFields = {
  account: Type.String({ examples: ['default'] }),
  baseUrl,
  pollIntervalMs,
  sweepIntervalMs,
  stalledAfter,
  createdAt: s.time('When it was created.'),
  updatedAt: s.time('When its settings last changed.'),
  counts: countsOrNull,
  quota: s.record(
    {
      usedBytes: Type.Integer(),
      maxBytes: s.integer(
        `ATTEMPTS_MAX_BYTES for attempts and dead letters, and ${quotaBytesMax} for all the rest.`,
        { examples: [quotaBytesMax] },
      ),
      dropped: s.record(
        {
          attemptsAt: s.timeOrNull('When the oldest attempts were last removed.'),
          deadLettersAt: s.timeOrNull('When the oldest dead letters were last removed.'),
          eventsAt: s.timeOrNull('When the oldest events were last removed from the log (LOG_MAX_BYTES).'),
        },
        {
          description:
            'What was removed before EVENT_RETENTION_MS had passed, because the bytes for it were used up; null for nothing.',
        },
      ),
    },
    {
      description:
        'What the account stores: subscriptions, replays, idempotency keys, tokens and marks, of which more than 33 554 432 bytes are refused with `account_quota_exceeded`; and attempts and dead letters, of which the oldest make way.',
    },
  ),
  health,
  requests: s.record(
    {
      total: Type.Integer(),
      lastPoll: Type.Integer(),
      budget: s.integer(
        'Maximum number of requests that PARTNER_MAX_RPS allows in one poll interval. A poll with more requests takes longer than the interval.',
      ),
    },
    { description: 'Requests sent to the partner service, in total and by the last poll.' },
  ),
};

/** An account as the API shows it; never with its key. */
export const accountSchema = s.record(accountFields, { $id: 'Account' });

/** An account whose settings were changed. */
export const savedAccountSchema = s.record(
  {
    ...accountFields,
    check: s.record(
      {
        ok: Type.Boolean(),
        detail: s.string('What came of it and what to do.', {
          examples: ['The partner service takes the key.'],
        }),
      },
      {
        description:
          'The outcome of asking the partner service (`GET partner/me`) once with these settings, within PARTNER_TIMEOUT_MS and ten seconds. They are stored whatever it is.',
      },
    ),
  },
  { $id: 'SavedAccount' },
);

/** Query of GET …/counts. */
const countsQuerySchema = s.record({
  hours: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 168,
      default: 24,
      description: 'Hours back from now; at most a week.',
    }),
  ),
});

/** Response of GET …/counts. */
export const countsAnswerSchema = s.record(
  { items: Type.Array(s.record({ at: s.time('When, to the minute.'), counts: countsByStatus })) },
  {
    description:
      'Oldest first, at most 200. There is one for each minute of the last six hours, and for each tenth minute before, in which the account was polled.',
  },
);

/** Query of POST …/poll. */
const pollQuerySchema = s.record({
  mode: Type.Optional(
    s.oneOf(['delta', 'sweep'], {
      default: 'delta',
      description: '`sweep` reads every filing, `delta` what may have changed.',
    }),
  ),
});

/** Response of POST …/poll. */
const pollAnswerSchema = s.record(
  { account: Type.String(), mode: s.oneOf(['delta', 'sweep']) },
  { description: 'The poll starts as soon as a worker is free.' },
);

/** The problem with the address of a partner service, null for a valid one; pure. */
export function baseUrlProblem(text: string): string | null {
  const url = /^https?:\/\/[^/]/i.test(text) ? URL.parse(text) : null;
  if (url === null || /[\s\\\p{Cc}]/u.test(text)) return 'must be an absolute http:// or https:// URL';
  if (url.username !== '' || url.password !== '' || /^[^/]+\/\/[^/?#]*@/.test(text))
    return 'must not contain a user or password';
  return /[?#]/.test(text) ? 'must not have a query or fragment' : null;
}

const inAccount = Type.Object(s.accountParams);

/** Request and responses of GET /v1/accounts. */
export const listAccounts = {
  operationId: 'listAccounts',
  summary: 'List accounts',
  description: 'By name.',
  querystring: s.record(s.pageQuery),
  response: { 200: s.listOf('Account', 'Accounts by name.') },
};

/** Request and responses of PUT /v1/accounts/{account}. */
export const putAccount = {
  operationId: 'putAccount',
  summary: 'Create an account or replace its settings',
  description:
    'A new account is polled at once; its first complete poll is the silent baseline. Replacing the settings keeps what is known of ' +
    'the filings. Intervals that are left out get the defaults of the deployment.',
  params: newAccountParams,
  body: accountInputSchema,
  response: {
    200: s.answer('SavedAccount', 'The account.'),
    201: s.answer('SavedAccount', 'Created.', { location: 'Where it is.' }),
  },
};

/** Request and responses of PATCH /v1/accounts/{account}. */
export const patchAccount = {
  operationId: 'patchAccount',
  summary: 'Change single settings of an account',
  description:
    'Settings that are left out stay; null for an interval stands for the default of the deployment. A `baseUrl` of another origin ' +
    'needs `partnerKey` too, because a key is sent nowhere but to the origin that it was given for.',
  params: inAccount,
  body: accountPatchSchema,
  response: { 200: s.answer('SavedAccount', 'The account.') },
};

/** Request and responses of GET /v1/accounts/{account}. */
export const getAccount = {
  operationId: 'getAccount',
  summary: 'Settings, counts and health of an account',
  description: 'Counts and health are as of the last complete poll.',
  params: inAccount,
  response: { 200: s.answer('Account', 'The account.') },
};

/** Request and responses of GET /v1/accounts/{account}/counts. */
export const getCounts = {
  operationId: 'getCounts',
  summary: 'Filings by status over the past hours or days',
  description: 'Points are kept for a week.',
  params: inAccount,
  querystring: countsQuerySchema,
  response: { 200: countsAnswerSchema },
};

/** Request and responses of DELETE /v1/accounts/{account}. */
export const deleteAccount = {
  operationId: 'deleteAccount',
  summary: 'Stop polling and remove everything of an account',
  description: 'Its filings, events, subscriptions and tokens are removed for good.',
  params: inAccount,
  response: { 204: { type: 'null', description: 'Removed.' } },
};

/** Request and responses of POST /v1/accounts/{account}/accept. */
export const acceptFindings = {
  operationId: 'acceptFindings',
  summary: 'Accept what the polls find and do not believe',
  description:
    'For an account whose health is `doubtful`: confirms what `health.doubt` describes. The account is polled at once, and everything that was held back is reported, ' +
    'in order. Nothing is held back for that reason until the doubt has ended; afterwards the checks apply as before. Safe to repeat.',
  params: inAccount,
  response: {
    202: s.answer('Account', 'Accepted; the poll starts as soon as a worker is free.'),
    409: s.conflict,
  },
};

/** Request and responses of POST /v1/accounts/{account}/poll. */
export const pollAccount = {
  operationId: 'pollAccount',
  summary: 'Poll an account now',
  description:
    'The poll is queued, and one that runs already counts for it. `lastCompletePollAt` in the health of the account shows when it was done.',
  params: inAccount,
  querystring: pollQuerySchema,
  response: { 202: pollAnswerSchema },
};
