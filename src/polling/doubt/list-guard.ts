import type { Doubt } from './doubt.ts';
import { standingDoubt } from './doubt.ts';
import {
  doubtedFrom,
  isWaitNeeded,
  listDoubt,
  removalDoubt,
  type DoubtLimits,
  type DoubtReason,
} from './doubt-policy.ts';
import type { PollingMarks } from '../store/marks.ts';

/**
 * Keeps one poll from telling what it has read of lists that are not the account's own. Filings never seen
 * before wait, as long as more of them than known ones have come, until the lists have been read and weighed;
 * filings that answer 404 wait for the end of the poll.
 */
export interface ListGuard {
  /** Counts what a page has shown for the first time; true: what was never seen before is to be kept back. */
  count(known: number, unknown: number, counted: number | null): boolean;
  /** Whether what was never seen before is to be kept back now. */
  keepsBack(): boolean;
  /** Takes filings that are kept back; `tell` is called when the lists turn out to be the account's own. */
  keep(filings: number, tell: () => Promise<unknown>): void;
  /** Tells what was kept back, if there is no reason to wait any more. */
  release(): Promise<void>;
  /** Whether a delta poll has to look closer before it ends. */
  isOpen(): boolean;
  /**
   * Weighs the lists read, which must have shown so many known filings if they are the account's own. Null:
   * they are, and what was kept back is told. Asks for the account's identity where there is a doubt.
   */
  weigh(expected: number): Promise<DoubtReason | null>;
  /** Nothing that the lists alone have shown is told in this poll. */
  doubt(reason: DoubtReason): void;
  /** Whether filings found gone are not to be removed in this poll. */
  holdsRemovals(): boolean;
  /** Takes note of what `GET /partner/me` names; null is nobody. */
  noteAccount(digest: string | null): void;
  /** True when another account answers: then nothing of the poll counts. */
  isClosed(): boolean;
  /** True when the lists are doubted. */
  isListDoubted(): boolean;
  /** What is held back; null when nothing is. */
  found(): Doubt | null;
  /** True when something would be held back had the operator not accepted it. */
  isOverridden(): boolean;
  /**
   * True when more was kept back than can be kept, and the lists are the account's own: they are to be read
   * again.
   */
  isToBeRepeated(): boolean;
}

export interface ListGuardDeps {
  readonly limits: DoubtLimits;
  readonly marks: Pick<PollingMarks, 'baselined' | 'doubt' | 'identity'>;
  /** Known filings before the poll. */
  readonly known: number;
  /** True in a second read of lists that are the account's own. */
  readonly isTrusted: boolean;
  /** Known filings that were 404 when last asked for. */
  readonly gone: () => number;
  /**
   * Digest of the account that `GET /partner/me` names; null when it names none. Does not reject but for an
   * abort.
   */
  readonly askAccount: () => Promise<string | null>;
}

// Maximum number of filings that wait in memory, with the pages that they stand on.
const keptMax = 1_000;

/** A guard for one poll. */
export function createListGuard(deps: ListGuardDeps): ListGuard {
  const { limits, marks, known } = deps;
  const standing = standingDoubt(marks);
  const isArmed = marks.baselined && known >= doubtedFrom;
  let isOurs = !isArmed || deps.isTrusted;
  let sighted = { known, shown: 0, unknown: 0, counted: 0 };
  let kept: (() => Promise<unknown>)[] = [];
  let keptFilings = 0;
  let hasDropped = false;
  let listReason: DoubtReason | null = null;
  let removalReason: DoubtReason | null = null;
  let isOverridden = false;
  let seen: string | null | undefined;

  const isAccepted = standing?.accepted === true;
  const keepsBack = () => listReason !== null || (!isOurs && !isAccepted && isWaitNeeded(sighted, limits));
  const evidence = () => ({ ...sighted, gone: deps.gone(), isDoubted: standing !== null });

  function noteAccount(digest: string | null): void {
    seen = digest;
    if (isArmed && digest !== null && marks.identity !== '' && digest !== marks.identity)
      listReason = 'other_account';
  }

  async function tellKept(): Promise<void> {
    const told = kept;
    kept = [];
    keptFilings = 0;
    // In the order of the pages.
    // oxlint-disable-next-line no-await-in-loop
    for (const tell of told) await tell();
  }

  async function weigh(expected: number): Promise<DoubtReason | null> {
    if (isOurs) return null;
    const reason = listDoubt({ ...evidence(), expected }, limits);
    if (seen === undefined && (reason !== null || kept.length > 0)) noteAccount(await deps.askAccount());
    if (listReason !== null) return listReason;
    if (reason !== null && !isAccepted) return reason;
    isOverridden ||= reason !== null;
    isOurs = true;
    await tellKept();
    return null;
  }

  return {
    count(shown, unknown, counted) {
      sighted = {
        known,
        shown: sighted.shown + shown,
        unknown: sighted.unknown + unknown,
        counted: Math.max(sighted.counted, counted ?? 0),
      };
      return keepsBack();
    },
    keepsBack,
    keep(filings, tell) {
      if (keptFilings + filings > keptMax || listReason !== null) {
        hasDropped = true;
        return;
      }
      keptFilings += filings;
      kept.push(tell);
    },
    async release() {
      if (kept.length > 0 && !keepsBack()) await tellKept();
    },
    isOpen: () => isArmed && (kept.length > 0 || hasDropped || standing !== null),
    weigh,
    doubt(reason) {
      listReason ??= reason;
      kept = [];
    },
    holdsRemovals() {
      if (!isArmed) return false;
      if (listReason !== null) return true;
      const reason = removalDoubt(evidence(), limits);
      if (reason === null) return false;
      isOverridden ||= isAccepted;
      if (!isAccepted) removalReason = reason;
      return !isAccepted;
    },
    noteAccount,
    isClosed: () => listReason === 'other_account',
    isListDoubted: () => listReason !== null,
    found() {
      const reason = listReason ?? removalReason;
      if (reason === null) return null;
      const { shown, unknown, gone } = evidence();
      const identity = reason === 'other_account' ? (seen ?? '') : '';
      return { reason, known, shown, unknown, gone, identity };
    },
    isOverridden: () => isOverridden,
    isToBeRepeated: () => hasDropped && listReason === null && isOurs,
  };
}
