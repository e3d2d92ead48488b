import { type Static, Type } from 'typebox';
import type { UnreadableAccount } from '../../accounts/account-slices.ts';
import { noneSet, type Account, type StayRule } from '../../accounts/account.ts';
import { seenStatus } from '../../filings/detection/triage.ts';
import { isKnownStatus, knownStatuses } from '../../partner/filing-statuses.ts';
import { standingDoubt } from '../../polling/beliefs/doubt.ts';
import { healthState, latePolls } from '../../polling/health.ts';
import { noMarks, type PollingMarks } from '../../polling/store/marks.ts';
import { quotaBytesMax } from '../../redis/quota/account-quota.ts';
import { toUnreadable } from '../../redis/unreadable-record.ts';
import type { ApiDeps } from '../deps.ts';
import { dueShown, shownWarnings } from './due-settings.ts';
import * as s from '../shared/schema.ts';
import { notFound } from '../shared/problem.ts';

/** The account with this name; throws the problem 404 if there is none. */
export async function requireStored({ accounts }: Pick<ApiDeps, 'accounts'>, name: string): Promise<Account> {
  const account = await accounts.get(name);
  if (account === null) throw notFound('account_not_found');
  return account;
}

/** An account as the API shows it. A record of it that cannot be read is named in `lastError`. */
export async function accountView(deps: ApiDeps, account: Account): Promise<Static<typeof accountSchema>> {
  const { snapshot, filings, polling, quota, subscriptions } = deps;
  const errors: string[] = [];
  const orElse = async <T>(read: Promise<T>, fallback: T): Promise<T> => {
    try {
      return await read;
    } catch (error) {
      const unreadable = toUnreadable(error);
      if (unreadable === null) throw error;
      errors.push(unreadable.message);
      return fallback;
    }
  };
  const [counts, open, marks, usedBytes, rejectionsCovered] = await Promise.all([
    orElse(snapshot.counts(account.account), {}),
    orElse(filings.count({ account: account.account, status: seenStatus }), 0),
    orElse(polling.read(account.account), noMarks),
    orElse(quota(account.account), 0),
    orElse(subscriptions.coversRejections(account.account), null),
  ]);
  const [lastError = marks.lastError] = errors;
  const known = { ...account, rejectionsCovered };
  return shown(deps, known, { ...marks, lastError }, { counts, open }, usedBytes);
}

/** An account of which only the name can be read. */
export function brokenView(deps: ApiDeps, { account, error }: UnreadableAccount) {
  const intervals = { pollIntervalMs: 0, sweepIntervalMs: 0, createdAt: 0, updatedAt: 0 };
  const unknown = {
    account,
    incarnation: '',
    baseUrl: '',
    ...noneSet,
    ...intervals,
    rejectionsCovered: null,
  };
  const lastError = `${error.message}; PUT repairs it, DELETE removes it`;
  return shown(deps, unknown, { ...noMarks, lastError }, { counts: {}, open: 0 }, 0);
}

function shown(
  { now, accountLimits: { maxRps, attemptsBytesMax } }: ApiDeps,
  account: Account & { readonly rejectionsCovered: boolean | null },
  marks: PollingMarks,
  { counts, open }: { readonly counts: Readonly<Record<string, number>>; readonly open: number },
  usedBytes: number,
): Static<typeof accountSchema> {
  const { pollIntervalMs: intervalMs, createdAt } = account;
  return s.show(accountSchema, {
    ...account,
    dueWarnings: shownWarnings(account.dueWarnings),
    counts: countsView(counts, marks.lastCompletePollAt > 0),
    open: marks.lastCompletePollAt > 0 ? open : null,
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
      state: healthState(marks, intervalMs, createdAt, now()),
      lastError: marks.lastError || null,
      doubt: standingDoubt(marks),
      late: latePolls(marks, intervalMs),
    },
    requests: {
      total: marks.requestsTotal,
      lastPoll: marks.requestsLastPoll,
      budget: Math.max(1, Math.floor((maxRps * intervalMs) / 1000)),
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

/** The description of limits by status. */
export const stalledAfterText = {
  description:
    'How long a filing may stay in a status: an ISO 8601 duration (weeks, days, hours, minutes, seconds) for each, ' +
    'from one second to ten years. A filing that stays longer leads to one `filing.stalled`; with `unless` only while nobody has seen it. Null or {}: no limits.',
  examples: [{ PENDING: 'P10D', UNPAID: 'P2W', REJECTED: { after: 'PT4H', unless: 'seen' } }],
};

/** The parts of the schedule of a digest. */
export const digestFields = s.record({
  at: Type.String({ maxLength: 5, description: 'Local time of day, `HH:MM`.', examples: ['08:00'] }),
  zone: Type.String({ maxLength: 64, description: 'A time zone.', examples: ['America/Chicago'] }),
  days: Type.String({
    maxLength: 64,
    description: '`daily`, or days and ranges of them with commas between: `mon-fri`, `mon,wed`.',
    examples: ['mon-fri'],
  }),
});

/** The description of the schedule of a digest. */
export const digestText = {
  description:
    'When an `account.digest` is appended, one for each of these local days. It is made up later the same day where the daemon was away, and where the setting is new. Null: none.',
};

/** A limit for one status. */
export const stayRule = Type.Unsafe<StayRule>({
  type: ['string', 'object'],
  maxLength: 64,
  properties: {
    after: Type.String({ maxLength: 64 }),
    unless: Type.Literal('seen', {
      description: 'A filing that somebody has seen may stay; only for REJECTED.',
    }),
  },
  required: ['after'],
  additionalProperties: false,
});

const day = 86_400_000;

/** The time between polls. */
export const pollIntervalMs = Type.Integer({
  minimum: 10,
  maximum: day,
  description: 'Milliseconds between polls; the default is POLL_INTERVAL_MS.',
  examples: [15_000],
});

/** The time between sweeps. */
export const sweepIntervalMs = Type.Integer({
  minimum: 10,
  maximum: 30 * day,
  description: 'Milliseconds between full sweeps; the default is SWEEP_INTERVAL_MS.',
  examples: [900_000],
});

/** The address of the partner service. */
export const baseUrl = Type.String({
  maxLength: 2048,
  description: 'Address of the partner service, ending in its version segment; no user, query or fragment.',
  examples: ['https://partner.example.com/v1'],
});

/** Numbers of filings of a poll whose findings are doubted. */
export const doubtCounts = {
  known: s.integer('Known filings before that poll.'),
  shown: s.integer('The known filings that its lists showed.'),
  unknown: s.integer('Filings on its lists that were never seen before.'),
  gone: s.integer('Known filings that answered 404 when last asked for.'),
  moved: s.integer('Known filings of which `completedAt` has changed and the status has not.'),
};

const doubt = s.described('What the polls find and do not believe; null if there is nothing.', {
  reason: s.oneOf(['other_account', 'other_list', 'unknown_wave', 'removal_wave', 'completed_at_wave']),
  since: s.time('When it was first doubted.'),
  accepted: s.boolean('True: the operator has accepted it, and nothing is held back any more.'),
  ...doubtCounts,
});

const late = s.described(
  'Why polls are late although nothing fails: `partner_budget`, they wait longer than an interval because of PARTNER_TOTAL_RPS. Null when they do not.',
  {
    reason: s.oneOf(['partner_budget']),
    waitedMs: s.integer(
      'Milliseconds for which the last poll waited for its turns, or the one under way so far.',
    ),
    detail: s.string('The cause and what to do.'),
  },
);

const health = s.described('Health of the polling of this account.', {
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
});

const countsText =
  'Known filings by status, without removed ones; statuses that this version does not know appear when they occur.';
const countsExamples = [{ UNPAID: 3, PAID: 1, PENDING: 12, COMPLETED: 840, REJECTED: 2 }];

/** Numbers of filings by status, of a moment when they were known. */
export const countsByStatus = Type.Record(Type.String(), Type.Integer(), {
  description: countsText,
  examples: countsExamples,
});

const countsOrNull = Type.Record(Type.String(), s.nullable(Type.Integer()), {
  description: `${countsText} Each is null until the first complete poll (\`health.lastCompletePollAt\`): how many there are is not known before.`,
  examples: countsExamples,
});

/** Whether a receiver hears of rejections of an account. */
export const rejectionsCovered = s.nullable(Type.Boolean(), {
  description:
    'Whether an enabled subscription asks for filings that become REJECTED, at least in some states. False: nobody is told of them. Null where it is not known.',
});

const accountFields = {
  account: Type.String({ examples: ['default'] }),
  baseUrl,
  pollIntervalMs,
  sweepIntervalMs,
  stalledAfter: s.nullable(Type.Record(Type.String(), stayRule), stalledAfterText),
  digest: s.nullable(digestFields, digestText),
  ...dueShown,
  createdAt: s.time('When it was created.'),
  updatedAt: s.time('When its settings last changed.'),
  counts: countsOrNull,
  open: s.integerOrNull(
    'Number of filings that are REJECTED and that no other filing answers; null until the first complete poll.',
  ),
  rejectionsCovered,
  quota: s.described(
    'What the account stores: subscriptions, replays, idempotency keys, tokens and notes, of which more than 33 554 432 bytes are refused with `account_quota_exceeded`; and attempts and dead letters, of which the oldest make way.',
    {
      usedBytes: Type.Integer(),
      maxBytes: s.integer(
        `ATTEMPTS_MAX_BYTES for attempts and dead letters, and ${quotaBytesMax} for all the rest.`,
        { examples: [quotaBytesMax] },
      ),
      dropped: s.described(
        'What was removed before EVENT_RETENTION_MS had passed, because the bytes for it were used up; null for nothing.',
        {
          attemptsAt: s.timeOrNull('When the oldest attempts were last removed.'),
          deadLettersAt: s.timeOrNull('When the oldest dead letters were last removed.'),
          eventsAt: s.timeOrNull('When the oldest events were last removed from the log (LOG_MAX_BYTES).'),
        },
      ),
    },
  ),
  health,
  requests: s.described('Requests sent to the partner service, in total and by the last poll.', {
    total: Type.Integer(),
    lastPoll: Type.Integer(),
    budget: s.integer(
      'Maximum number of requests that PARTNER_MAX_RPS allows in one poll interval. A poll with more requests takes longer than the interval.',
    ),
  }),
};

/** An account as the API shows it; never with its key. */
export const accountSchema = s.shared('Account', accountFields);

/** An account whose settings were changed. */
export const savedAccountSchema = s.shared('SavedAccount', {
  ...accountFields,
  check: s.described(
    'The outcome of asking the partner service (`GET partner/me`) once with these settings, within PARTNER_TIMEOUT_MS and ten seconds. They are stored whatever it is.',
    {
      ok: Type.Boolean(),
      detail: s.string('What came of it and what to do.', {
        examples: ['The partner service takes the key.'],
      }),
    },
  ),
});
