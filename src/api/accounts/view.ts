import type { Static } from 'typebox';
import type { Account } from '../../accounts/account.ts';
import { isKnownStatus, knownStatuses } from '../../partner/filing-statuses.ts';
import { quotaBytesMax } from '../../redis/quota/account-quota.ts';
import { healthState, latePolls } from '../../polling/health.ts';
import { standingDoubt } from '../../polling/doubt/doubt.ts';
import type { PollingMarks } from '../../polling/store/marks.ts';
import { isoOrNull } from '../../json/iso-time.ts';
import type { accountSchema } from './schema.ts';

/**
 * An account as the API shows it; pure. `now` is in milliseconds on Redis's clock; `maxRps` is the maximum
 * number of requests per second, `attemptsBytesMax` the maximum bytes of attempts and dead letters.
 */
export function accountView(
  account: Account,
  { counts, usedBytes }: { counts: Readonly<Record<string, number>>; usedBytes: number },
  marks: PollingMarks,
  now: number,
  { maxRps, attemptsBytesMax }: { readonly maxRps: number; readonly attemptsBytesMax: number },
): Static<typeof accountSchema> {
  return {
    account: account.account,
    baseUrl: account.baseUrl,
    pollIntervalMs: account.pollIntervalMs,
    sweepIntervalMs: account.sweepIntervalMs,
    stalledAfter: account.stalledAfter,
    createdAt: new Date(account.createdAt).toISOString(),
    updatedAt: new Date(account.updatedAt).toISOString(),
    counts: countsView(counts, marks.lastCompletePollAt > 0),
    quota: {
      usedBytes,
      maxBytes: quotaBytesMax + attemptsBytesMax,
      dropped: {
        attemptsAt: isoOrNull(marks.attemptsDroppedAt),
        deadLettersAt: isoOrNull(marks.deadLettersDroppedAt),
        eventsAt: isoOrNull(marks.eventsDroppedAt),
      },
    },
    health: {
      state: healthState(marks, account.pollIntervalMs, account.createdAt, now),
      lastPollAt: isoOrNull(marks.lastPollAt),
      lastCompletePollAt: isoOrNull(marks.lastCompletePollAt),
      lastSweepAt: isoOrNull(marks.lastSweepAt),
      consecutiveFailures: marks.consecutiveFailures,
      backoffUntil: isoOrNull(marks.backoffUntil),
      lastError: marks.lastError || null,
      doubt: doubtView(marks),
      late: latePolls(marks, account.pollIntervalMs),
    },
    requests: {
      total: marks.requestsTotal,
      lastPoll: marks.requestsLastPoll,
      budget: Math.max(1, Math.floor((maxRps * account.pollIntervalMs) / 1000)),
    },
  };
}

function doubtView(marks: PollingMarks) {
  const standing = standingDoubt(marks);
  if (standing === null) return null;
  const { identity: _identity, since, ...shown } = standing;
  return { ...shown, since: new Date(since).toISOString() };
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
