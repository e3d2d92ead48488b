import type { StandingDoubt } from './doubt.ts';

/** Why findings are doubted. */
export type DoubtReason =
  /** `GET /partner/me` answers with another account. */
  | 'other_account'
  /** The list shows next to none of the known filings. */
  | 'other_list'
  /** More filings never seen before than a poll can be believed to have found. */
  | 'unknown_wave'
  /** More known filings answer 404 than can be believed to have been removed. */
  | 'removal_wave'
  /** `completedAt` of most settled filings has moved, and no status: the service writes times otherwise. */
  | 'completed_at_wave';

/** The findings of one poll so far. */
export interface Evidence {
  /** Known filings before the poll, removed ones left out. */
  readonly known: number;
  /** Minimum number of these that the account's own lists would have shown; 0 if unknown. */
  readonly expected: number;
  /** Different known filings on the lists. */
  readonly shown: number;
  /** Different filings on the lists that were never seen before. */
  readonly unknown: number;
  /** Known filings that answered 404 when last asked for, and those of them that did so before this poll. */
  readonly gone: number;
  readonly goneBefore: number;
  /** Settled filings among those read with a `completedAt`, and those of which it alone has moved. */
  readonly timed: number;
  readonly moved: number;
  /** Whether `GET /partner/me` names another account than before. */
  readonly isOther: boolean;
  /** False as long as there is no baseline. */
  readonly baselined: boolean;
  /** A doubt that was reported before; then a list has to prove that it is the account's own. */
  readonly standing: StandingDoubt | null;
}

/** What is doubted of a poll's findings, and therefore held back. */
export interface Verdict {
  /** The first reason to doubt, or null if there is none. */
  readonly reason: DoubtReason | null;
  /** The lists are not believed: filings never seen before wait, as do removals and moved times. */
  readonly list: boolean;
  readonly removals: boolean;
  readonly times: boolean;
  /** Something would be doubted without the operator's acceptance. */
  readonly isOverridden: boolean;
}

/** Minimum number of known filings for findings to be doubted; with fewer, any finding may be true. */
export const doubtedFrom = 10;

// Findings are doubted beyond a number and a percentage of the known filings
// (docs/polling.md#lists-that-are-not-the-accounts-own): filings never seen before, and known ones that
// answer 404.
const unknownMax = { number: 1_000, percent: 100 };
const goneMax = { number: 20, percent: 1 };
// Minimum percentage of the known filings that a list shows if it is the account's own.
const shownPercentMin = 10;
// Maximum number of filings whose `completedAt` alone moves that is believed in any case.
const movedMax = 2;

/**
 * Decides what to believe of a poll's findings. The operator's acceptance of a doubt covers every
 * reason but an account other than the accepted one.
 */
export function weigh(found: Evidence): Verdict {
  const { isOther, standing } = found;
  const isArmed = canBeDoubted(found);
  const doubted = {
    list: isArmed ? listDoubt(found) : null,
    removals: isArmed && isBeyond(goneMax, found.gone, found) ? ('removal_wave' as const) : null,
    times: isArmed && isTimesWave(found) ? ('completed_at_wave' as const) : null,
  };
  const reason = doubted.list ?? doubted.removals ?? doubted.times;
  if (standing?.accepted === true && !(isArmed && isOther))
    return { ...believed, isOverridden: reason !== null };
  const list = doubted.list !== null;
  return {
    reason,
    list,
    removals: list || doubted.removals !== null,
    times: list || doubted.times !== null,
    isOverridden: false,
  };
}

/** The verdict without any doubt. */
export const believed: Verdict = {
  reason: null,
  list: false,
  removals: false,
  times: false,
  isOverridden: false,
};

/** Whether findings may be doubted at all. */
export function canBeDoubted({ baselined, known }: Pick<Evidence, 'baselined' | 'known'>): boolean {
  return baselined && known >= doubtedFrom;
}

/**
 * Whether the lists of a delta poll, which need not show any known filing, are too little to be believed by.
 * It then looks at the two ends of the whole list.
 */
export function isLookNeeded(found: Evidence): boolean {
  const { shown, unknown, moved, standing } = found;
  return canBeDoubted(found) && (unknown > shown || moved > movedMax || standing !== null);
}

function listDoubt(found: Evidence): DoubtReason | null {
  if (found.isOther) return 'other_account';
  if (isOtherList(found)) return 'other_list';
  return isBeyond(unknownMax, found.unknown, found) ? 'unknown_wave' : null;
}

// An empty list belongs to another account as long as the filings themselves exist.
function isOtherList(found: Evidence): boolean {
  const { expected, shown, unknown, goneBefore, standing } = found;
  if (expected < doubtedFrom || shown * 100 >= expected * shownPercentMin) return false;
  return unknown > 0 || standing !== null || goneBefore * 2 > expected - shown;
}

function isBeyond({ number, percent }: typeof goneMax, count: number, { known }: Evidence): boolean {
  return count > Math.max(number, (known * percent) / 100);
}

// A doubt that stands ends only when few are left.
function isTimesWave({ timed, moved, standing }: Evidence): boolean {
  return moved > movedMax && (moved * 2 > timed || standing?.reason === 'completed_at_wave');
}
