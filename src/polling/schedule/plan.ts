import type { PollingMarks } from '../store/marks.ts';

/** What a poll was asked to be: a sweep reads everything, a delta what it needs to. */
export type PollMode = 'delta' | 'sweep';

/** What one poll reads. */
export type PollPlan =
  | 'full' // the whole list, then every known filing that was not on it
  | 'delta'; // the lists of unsettled filings, those that left them, the counts

/** What a plan rests on. Times are milliseconds on Redis's clock. */
export interface PlanInput {
  readonly mode: PollMode;
  readonly marks: Pick<PollingMarks, 'baselined' | 'lastSweepAt' | 'sweepTriedAt'>;
  /** Number of known filings per status. */
  readonly counts: Readonly<Record<string, number>>;
  readonly now: number;
  readonly pollIntervalMs: number;
  readonly sweepIntervalMs: number;
  /** Number of filings from which on polls read less than everything. */
  readonly largeFrom: number;
  /** In [0, 1), always the same for an account: spreads the sweeps of many accounts that began together. */
  readonly stagger: number;
}

/**
 * Below this many filings a full listing takes about as many requests as the lists and counts of a delta, and
 * sees more.
 */
export const largeAccountFilings = 700;

/** Whether an account is so large that its polls read less than everything; pure. */
export function isLarge(counts: Readonly<Record<string, number>>, largeFrom: number): boolean {
  return Object.values(counts).reduce((sum, count) => sum + count, 0) >= largeFrom;
}

/** Decides what a poll reads; pure. */
export function planPoll(input: PlanInput): PollPlan {
  const { mode, marks, counts } = input;
  const isEverything =
    mode === 'sweep' || !marks.baselined || !isLarge(counts, input.largeFrom) || isSweepDue(input);
  return isEverything ? 'full' : 'delta';
}

const staggerShare = 0.1;
const retryShare = 0.1;

// Up to a tenth early, by the account's stagger.
function isSweepDue(input: PlanInput): boolean {
  const { marks, now, sweepIntervalMs, stagger } = input;
  const early = marks.lastSweepAt === 0 ? 0 : staggerShare * stagger * sweepIntervalMs;
  return now - marks.lastSweepAt >= sweepIntervalMs - early && isSweepRetryDue(input);
}

/** Whether a sweep that could not be completed is to be repeated: after a tenth of the interval; pure. */
export function isSweepRetryDue({
  marks,
  now,
  pollIntervalMs,
  sweepIntervalMs,
}: Pick<PlanInput, 'now' | 'pollIntervalMs' | 'sweepIntervalMs'> & {
  readonly marks: Pick<PollingMarks, 'sweepTriedAt'>;
}): boolean {
  return now - marks.sweepTriedAt >= Math.max(pollIntervalMs, retryShare * sweepIntervalMs);
}
