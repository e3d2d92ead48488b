import type { PartnerError, PartnerErrorKind } from '../partner/partner-error.ts';
import { describeDoubt, type Doubt } from './beliefs/doubt.ts';
import type { ReadOutcome } from './reads/full.ts';
import type { PollReads } from './reads/poll-reads.ts';
import { failureOf } from './reads/findings.ts';
import type { PollMode } from './schedule/plan.ts';
import type { MarksUpdate } from './store/marks.ts';

/** Counts of a poll that read to its end. */
interface EndedReads {
  readonly mode: PollMode;
  readonly events: number;
  /** Known filings that could not be read one by one; each is tried again by itself. */
  readonly unread: number;
}

/** How one poll ended. */
export type PollOutcome =
  /** `accepted`: it announced findings that would be doubted without the operator's acceptance. */
  | (EndedReads & { readonly kind: 'complete'; readonly accepted?: true })
  /**
   * The lists that were read are not believed to be the account's own. The findings wait until they are
   * believed or accepted.
   */
  | (EndedReads & { readonly kind: 'doubtful'; readonly doubt: Doubt; readonly message: string })
  /** Part of the list could not be read. The rest is kept, and the next poll runs at its time. */
  | (EndedReads & { readonly kind: 'incomplete'; readonly message: string })
  /**
   * The partner service could not be read. The filings read before are kept, and the next poll waits for
   * `retryInMs`.
   */
  | {
      readonly kind: 'failed';
      readonly reason: PartnerErrorKind;
      readonly message: string;
      readonly retryInMs: number;
    }
  /** Nothing was read: the wait after a failure is not over. */
  | { readonly kind: 'backing_off' }
  /** Nothing was read: a clock that had moved scheduled the poll too soon after the last one. */
  | { readonly kind: 'early' }
  /** Nothing was read: all places for large reads are taken. */
  | { readonly kind: 'no_place' }
  /** Nothing was read: a sweep in a job of its own gives the account its baseline. */
  | { readonly kind: 'left_to_sweep' };

/** The outcome of a poll that read to its end. */
export function outcomeOf(
  mode: PollMode,
  { doubt: doubted, verdict, tally }: PollReads,
  { whole }: ReadOutcome,
): PollOutcome {
  const read: EndedReads = { mode, events: tally.events, unread: tally.unread };
  const doubt = doubted();
  if (doubt !== null) return { ...read, kind: 'doubtful', doubt, message: describeDoubt(doubt) };
  if (!whole) return { ...read, kind: 'incomplete', message: failureOf(tally)?.message ?? brokenList };
  return { ...read, kind: 'complete', ...(verdict().isOverridden ? { accepted: true as const } : {}) };
}

/** The marks after a poll that read to its end, at the time `now`. */
export function marksAfter(reads: PollReads, { earned, whole }: ReadOutcome, now: number): MarksUpdate {
  const { startedAt, marks } = reads.input;
  const doubt = reads.doubt();
  const ended = { lastPollAt: startedAt, backoffUntil: 0 };
  if (reads.verdict().list && doubt !== null) {
    // Lists that are not the account's own leave no marks.
    const tried = earned.sweepTriedAt === undefined ? {} : { sweepTriedAt: earned.sweepTriedAt };
    return { ...ended, ...tried, consecutiveFailures: 0, lastError: describeDoubt(doubt) };
  }
  const gaps = [...reads.tally.gaps.values()].filter(Boolean).join('; ');
  const leftOut = earned.sweepTriedAt === undefined ? marks.leftOut : gaps;
  return {
    ...earned,
    ...ended,
    leftOut,
    ...(whole ? { lastCompletePollAt: startedAt, lastCompleteEndAt: now } : {}),
    consecutiveFailures: whole ? 0 : marks.consecutiveFailures + 1,
    // A filing that a list cannot show often cannot be read by itself either.
    lastError:
      (whole && doubt === null && (gaps || leftOut)) || errorOf(failureOf(reads.tally), whole, doubt),
  };
}

const brokenList = 'the filing list could not be read to its end';

function errorOf(failure: PartnerError | null, whole: boolean, doubt: Doubt | null): string {
  if (failure !== null) return describeError(failure);
  if (!whole) return brokenList;
  return doubt === null ? '' : describeDoubt(doubt);
}

/** A failure as `lastError` shows it. */
export function describeError({ kind, message }: PartnerError): string {
  return `${kind}: ${message}`;
}
