/** Limits beyond which a poll's findings are doubted. */
export interface DoubtLimits {
  /**
   * Maximum known filings that answer 404, as a number and as a percentage of the known filings. Findings
   * beyond both are doubted.
   */
  readonly removedMin: number;
  readonly removedPercent: number;
  /**
   * Maximum filings never seen before, as a number and as a percentage of the known filings. Findings beyond
   * both are doubted.
   */
  readonly unknownMin: number;
  readonly unknownPercent: number;
  /**
   * Percentage of the known filings that a list must show to count as the account's own; 0: no minimum.
   */
  readonly shownPercent: number;
}

/** The limits of docs/polling.md#lists-that-are-not-the-accounts-own. */
export const defaultDoubtLimits: DoubtLimits = {
  removedMin: 20,
  removedPercent: 1,
  unknownMin: 1_000,
  unknownPercent: 100,
  shownPercent: 10,
};

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

/** The findings of one poll. */
export interface Evidence {
  /** Known filings before the poll, removed ones left out. */
  readonly known: number;
  /** Number of these that the account's own lists would have shown at least. */
  readonly expected: number;
  /** Different known filings on the lists. */
  readonly shown: number;
  /** Different filings on the lists that were never seen before. */
  readonly unknown: number;
  /** Known filings that answered 404 when last asked for. */
  readonly gone: number;
  /** Whether an earlier doubt still stands; then a list has to prove that it is the account's own. */
  readonly isDoubted: boolean;
}

/** Minimum number of known filings for findings to be doubted; with fewer, any finding may be true. */
export const doubtedFrom = 10;

/** Whether the lists of a poll are the account's own; null when they are. */
export function listDoubt(found: Evidence, limits: DoubtLimits): DoubtReason | null {
  if (found.known < doubtedFrom) return null;
  if (isOtherList(found, limits)) return 'other_list';
  return found.unknown > unknownMax(found.known, limits) ? 'unknown_wave' : null;
}

// An empty list belongs to another account as long as the filings themselves exist.
function isOtherList({ expected, shown, unknown, gone, isDoubted }: Evidence, limits: DoubtLimits): boolean {
  if (expected < doubtedFrom || shown * 100 >= expected * limits.shownPercent) return false;
  return unknown > 0 || isDoubted || gone * 2 > expected - shown;
}

/** Why the removal of `gone` known filings that answer 404 is doubted; null when it is not. */
export function removalDoubt(
  { known, gone }: Pick<Evidence, 'known' | 'gone'>,
  limits: DoubtLimits,
): DoubtReason | null {
  if (known < doubtedFrom) return null;
  return gone > Math.max(limits.removedMin, (known * limits.removedPercent) / 100) ? 'removal_wave' : null;
}

// Maximum number of filings whose `completedAt` alone moves that is believed in any case.
const movedMax = 2;

/**
 * Why it is doubted that `moved` filings were completed again, of `timed` settled ones that the lists show
 * with a `completedAt`; null when it is not. A doubt that stands ends only when few of them are left.
 */
export function timesDoubt(
  { known, timed, moved }: { readonly known: number; readonly timed: number; readonly moved: number },
  standing: DoubtReason | null,
): DoubtReason | null {
  if (known < doubtedFrom || moved <= movedMax) return null;
  return moved * 2 > timed || standing === 'completed_at_wave' ? 'completed_at_wave' : null;
}

/**
 * Maximum number of filings never seen before that a poll of an account with `known` filings is believed to
 * have found.
 */
export function unknownMax(known: number, { unknownMin, unknownPercent }: DoubtLimits): number {
  return Math.max(unknownMin, (known * unknownPercent) / 100);
}

/** Numbers of filings that a poll's lists have shown so far. */
export interface ShownSoFar {
  readonly known: number;
  readonly shown: number;
  readonly unknown: number;
  /** The highest count that the service gave of any of them; 0 when it gave none. */
  readonly counted: number;
}

/**
 * Whether filings never seen before have to wait until the lists have been read. They wait while the lists
 * have shown more of them than known filings, or where the service's count is too high to be believed.
 */
export function isWaitNeeded({ known, shown, unknown, counted }: ShownSoFar, limits: DoubtLimits): boolean {
  if (known < doubtedFrom) return false;
  return unknown > shown || counted - known > unknownMax(known, limits);
}
