import { isInIndex } from './age-rank.ts';
import { dueDate, passedWarning, type DueRules } from './due-dates.ts';
import type { FilingState } from './filing-state.ts';
import type { StayLimit, StayLimits } from './stay-limits.ts';

/** How long an account's filings may stay in a status, and when they are due. */
export interface Deadlines {
  readonly limits: StayLimits;
  readonly due: DueRules | null;
}

/** A deadline that a filing has passed and that was not reported yet. */
export type PassedDeadline =
  | { readonly type: 'filing.stalled'; readonly limit: StayLimit }
  /**
   * Of several warnings that were passed, the one nearest to the due date (ms); the others count as reported.
   */
  | { readonly type: 'filing.due'; readonly dueAt: number; readonly warning: StayLimit };

/**
 * The deadline to be reported of a filing at a time (ms); null for none. Each limit is reported once in a
 * stay, and each warning once before a due date. A stay whose beginning is not known has no length. `isSeen`:
 * whether a person has taken note of the rejection.
 */
export function passedDeadline(
  { limits, due }: Deadlines,
  state: FilingState,
  now: number,
  isSeen = false,
): PassedDeadline | null {
  const { status, since, stalled = [], effective, warned, answeredBy } = state;
  if (!isInIndex(state) || answeredBy !== undefined) return null;
  const limit = limits.get(status);
  const isBound = limit !== undefined && !(isSeen && limit.unlessSeen === true);
  if (isBound && since > 0 && now - since >= limit.ms && !stalled.includes(limit.ms))
    return { type: 'filing.stalled', limit };
  const dueAt = dueDate(due, effective);
  const warning = due === null || dueAt === null ? null : passedWarning(due, dueAt, now);
  if (dueAt === null || warning === null) return null;
  const isReported = warned?.dueAt === dueAt && warned.ms <= warning.ms;
  return isReported ? null : { type: 'filing.due', dueAt, warning };
}

// Maximum number of limits of one stay that are remembered; after further changes of the limit the first of
// them may be reported once more.
const limitsMax = 16;

/** The mark of a state by which a deadline counts as reported. */
export function reportedMark(
  { stalled = [] }: FilingState,
  passed: PassedDeadline,
): Pick<FilingState, 'stalled' | 'warned'> {
  return passed.type === 'filing.stalled'
    ? { stalled: [...stalled, passed.limit.ms].slice(-limitsMax) }
    : { warned: { dueAt: passed.dueAt, ms: passed.warning.ms } };
}
