import type { FilingState } from '../../filings/detection/filing-state.ts';
import type { FilingDocument } from '../../filings/detection/decide-commit.ts';
import { createdAtOf } from '../../partner/filing-schema.ts';
import type { MissedRead } from './missed-reads.ts';
import { isUnsettled } from '../../partner/filing-statuses.ts';

/** The marks of what polls have provably seen; `PollingMarks` defines each of them. */
export interface SeenMarks {
  readonly unsettledSeenAt: number;
  readonly allSeenAt: number;
  readonly bornSeenAt: number;
  readonly countedAt: number;
}

/**
 * Latest time (ms, Redis's clock) at which a filing is known to have been as stored, the `observed.notBefore`
 * of its next change. 0 when nothing is known.
 */
export function notBefore(
  marks: SeenMarks,
  missed: MissedRead | undefined,
  previous: FilingState | null,
  document: FilingDocument,
): number {
  if (previous === null) return notBeforeOfUnknown(marks, document);
  if (missed !== undefined) return Math.max(missed.notBefore, previous.readFrom);
  // Removed filings are not read by themselves.
  if (previous.removed) return previous.readFrom;
  const { unsettledSeenAt, allSeenAt } = marks;
  const seenAt = isUnsettled(previous.status) ? Math.max(unsettledSeenAt, allSeenAt) : allSeenAt;
  // A mark covers the filings known when its poll began.
  return previous.readAt <= seenAt ? Math.max(seenAt, previous.readFrom) : previous.readFrom;
}

// Matching counts alone do not prove that a filing did not exist, because another one may have been removed.
// Together with the filing's own `createdAt` they do.
function notBeforeOfUnknown({ bornSeenAt, countedAt }: SeenMarks, document: FilingDocument): number {
  const createdAt = createdAtOf(document);
  return Number.isNaN(createdAt) ? bornSeenAt : Math.max(bornSeenAt, Math.min(countedAt, createdAt));
}
