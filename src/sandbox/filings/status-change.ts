import { defaultRejectionReason } from '../decisions.ts';
import type { Filing } from './filing.ts';

/** A new status; a reason or a time that is given is taken as it is, whatever the status. */
export interface StatusChange {
  readonly status: string;
  readonly rejectionReason?: string | null | undefined;
  /** ISO 8601. */
  readonly completedAt?: string | null | undefined;
}

/**
 * The filing in its new status. Only a COMPLETED filing keeps or gets a `completedAt` and only a REJECTED one
 * a `rejectionReason` (partner specification, States); setting the same status again changes neither.
 */
export function withStatus(filing: Filing, change: StatusChange, nowMs: number): Filing {
  const { status } = change;
  const completedAt = status === 'COMPLETED' ? (filing.completedAt ?? new Date(nowMs).toISOString()) : null;
  const rejectionReason = status === 'REJECTED' ? (filing.rejectionReason ?? defaultRejectionReason) : null;
  return {
    ...filing,
    status,
    completedAt: change.completedAt === undefined ? completedAt : change.completedAt,
    rejectionReason: change.rejectionReason === undefined ? rejectionReason : change.rejectionReason,
  };
}
