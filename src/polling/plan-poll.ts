import type { PollingMarks } from './polling-store.ts';

/** What a poll was asked to be: a sweep reads everything, a delta what it needs to. */
export type PollMode = 'delta' | 'sweep';

/** What one poll reads. */
export type PollPlan =
  | { readonly kind: 'full' } // the whole list, then every known filing that was not on it
  | { readonly kind: 'delta'; readonly lists: readonly string[] }; // these statuses, the vanished, the probes

// Below this a full listing takes at most as many requests as the lists and probes of a delta, and sees more.
const fullListingMax = 700;

const unsettledStatuses = ['UNPAID', 'PAID', 'PENDING'];
const settledStatuses: ReadonlySet<string> = new Set(['COMPLETED', 'REJECTED']);

/** Whether a filing in this status is expected to move on. Statuses nobody knows yet count as such. */
export function isUnsettled(status: string): boolean {
  return !settledStatuses.has(status);
}

/** Decides what a poll reads; pure. `counts` is the number of known filings per status. */
export function planPoll(
  mode: PollMode,
  marks: PollingMarks,
  counts: Readonly<Record<string, number>>,
  now: number,
  sweepIntervalMs: number,
): PollPlan {
  const known = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const sweepDue = now - marks.lastSweepAt >= sweepIntervalMs;
  if (mode === 'sweep' || sweepDue || !marks.baselined || known < fullListingMax) return { kind: 'full' };
  const unknownStatuses = Object.keys(counts).filter(
    (status) => isUnsettled(status) && (counts[status] ?? 0) > 0 && !unsettledStatuses.includes(status),
  );
  return { kind: 'delta', lists: [...unsettledStatuses, ...unknownStatuses] };
}
