import { createHash } from 'node:crypto';
import type { PollMode } from '../store/lease-store.ts';
import type { PollingMarks } from '../store/marks.ts';

export type { PollMode };

/** The extent of one poll. */
export type PollPlan =
  | 'full' // the whole list, then every known filing that was not on it
  | 'delta'; // the lists of unsettled filings, the filings that left them, the counts

/** The facts that a plan is decided from. Times are milliseconds on Redis's clock. */
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
  /**
   * A number in [0, 1), fixed for each account. It spreads the sweeps of many accounts that began together.
   */
  readonly stagger: number;
}

/**
 * Number of filings from which on an account is large. Below it a full listing takes about as many requests
 * as a delta, and sees more.
 */
export const largeAccountFilings = 700;

/** Whether an account has enough filings for its polls to read less than everything; pure. */
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

// A sweep is due up to a tenth of the interval early, by the account's stagger.
function isSweepDue(input: PlanInput): boolean {
  const { marks, now, sweepIntervalMs, stagger } = input;
  const early = marks.lastSweepAt === 0 ? 0 : staggerShare * stagger * sweepIntervalMs;
  return now - marks.lastSweepAt >= sweepIntervalMs - early && isSweepRetryDue(input);
}

/** Whether it is time for another sweep after one that was not complete; pure. */
export function isSweepRetryDue({
  marks,
  now,
  ...intervals
}: Pick<PlanInput, 'now' | 'pollIntervalMs' | 'sweepIntervalMs'> & {
  readonly marks: Pick<PollingMarks, 'sweepTriedAt'>;
}): boolean {
  return now - marks.sweepTriedAt >= sweepRetryMs(intervals);
}

/** Milliseconds from the beginning of a sweep that was not complete to the next one; pure. */
export function sweepRetryMs({
  pollIntervalMs,
  sweepIntervalMs,
}: Pick<PlanInput, 'pollIntervalMs' | 'sweepIntervalMs'>): number {
  return Math.max(pollIntervalMs, retryShare * sweepIntervalMs);
}

/**
 * An account's fixed share in [0, 1), which spreads the polls of many accounts over time; pure.
 */
export function staggerOf(account: string): number {
  return createHash('sha256').update(account).digest().readUInt32BE(0) / 2 ** 32;
}
