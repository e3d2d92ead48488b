import type { HeldBack, SeenFilings } from '../../filings/observe-filings.ts';
import type { PartnerClient } from '../../partner/partner-client.ts';
import { standingDoubt, type Doubt } from './doubt.ts';
import {
  doubtedFrom,
  isWaitNeeded,
  listDoubt,
  removalDoubt,
  timesDoubt,
  type DoubtLimits,
  type DoubtReason,
} from './doubt-policy.ts';
import { readIdentity } from './identity.ts';

/**
 * Holds back the findings of one poll on lists that are not the account's own. Filings never seen before wait
 * until the lists have been read and weighed, as long as the lists have shown more of them than known
 * filings. So do filings of which only `completedAt` has moved, in any case. Filings that answer 404 wait for
 * the end of the poll.
 */
export interface ListGuard {
  /** Counts the filings that a page has shown for the first time, and says what is held back of them. */
  count(page: SeenFilings, counted: number | null): HeldBack;
  /** What is held back now. */
  holds(): HeldBack;
  /** What is held back of filings that are read by themselves: `completedAt` only where it is doubted. */
  holdsOfOne(): HeldBack;
  /**
   * Keeps filings that are held back, with the `bytes` of their page; `announce` is called when the lists
   * prove to be the account's own. It keeps again what is then still held back.
   */
  keep(filings: number, bytes: number, announce: () => Promise<unknown>): void;
  /** Announces the kept filings if there is no longer a reason to wait. */
  release(): Promise<void>;
  /** Whether a delta poll has to look closer before it ends. */
  isOpen(): boolean;
  /**
   * Weighs the lists read; the account's own lists would have shown `expected` known filings. Null: the lists
   * are the account's own, and the kept filings are announced. Requests the account's identity where there is
   * a doubt. Rejects as `announce` does, and when the signal aborts.
   */
  weigh(expected: number): Promise<DoubtReason | null>;
  /** Weighs the times alone, where a list could not be read to its end. Rejects as `announce` does. */
  weighTimes(): Promise<void>;
  /** From now on nothing that the lists alone have shown is announced in this poll. */
  doubt(reason: DoubtReason): void;
  /** Whether absent filings must not be removed in this poll. */
  holdsRemovals(): boolean;
  /** Takes note of the account that `GET /partner/me` names; null where it names none. */
  noteAccount(digest: string | null): void;
  /** True when another account answers; then no finding of the poll counts. */
  isClosed(): boolean;
  /** True when the lists are doubted. */
  isListDoubted(): boolean;
  /** The doubt about the findings held back; null when none are. */
  found(): Doubt | null;
  /** True when findings would be held back without the operator's acceptance. */
  isOverridden(): boolean;
  /**
   * True when more filings were held back than can be kept and the lists are the account's own; the lists are
   * then to be read again.
   */
  isToBeRepeated(): boolean;
}

/** The state of the poll at its beginning, as far as the guard needs it. */
export interface GuardInput {
  readonly marks: { readonly baselined: boolean; readonly doubt: string; readonly identity: string };
  /** Known filings before the poll. */
  readonly known: number;
  /** True in a second read of lists that are the account's own. */
  readonly isTrusted?: boolean;
  readonly signal: AbortSignal;
}

export interface ListGuardDeps {
  readonly client: Pick<PartnerClient, 'checkAccount'>;
  readonly doubtLimits: DoubtLimits;
}

// Maximum number of filings that wait in memory, and of the bytes of the pages that they stand on.
const keptMax = 1_000;
const keptBytesMax = 8 * 1024 * 1024;

/** A guard for one poll; `missed.gone` is the number of known filings that answered 404 when last read. */
export function createListGuard(
  { client, doubtLimits: limits }: ListGuardDeps,
  { marks, known, isTrusted = false, signal }: GuardInput,
  missed: { gone(): number },
): ListGuard {
  const standing = standingDoubt(marks);
  const isArmed = marks.baselined && known >= doubtedFrom;
  const isAccepted = standing?.accepted === true;
  let isOurs = !isArmed || isTrusted;
  let areTimesOpen = isArmed && !isTrusted && !isAccepted;
  let shownSoFar = { known, shown: 0, unknown: 0, counted: 0, timed: 0, moved: 0 };
  let kept: (() => Promise<unknown>)[] = [];
  let keptFilings = 0;
  let keptBytes = 0;
  let hasDropped = false;
  // Whether filings are kept that were never seen before.
  let waitsForList = false;
  let listReason: DoubtReason | null = null;
  let removalReason: DoubtReason | null = null;
  let timesReason: DoubtReason | null = null;
  let isOverridden = false;
  let seen: string | null | undefined;

  const keepsBack = () => listReason !== null || (!isOurs && !isAccepted && isWaitNeeded(shownSoFar, limits));
  const doubtOfTimes = () => (isArmed ? timesDoubt(shownSoFar, standing?.reason ?? null) : null);
  const holds = () => ({ unknown: keepsBack(), moved: areTimesOpen || timesReason !== null });
  const evidence = () => ({ ...shownSoFar, gone: missed.gone(), isDoubted: standing !== null });

  function noteAccount(digest: string | null): void {
    seen = digest;
    if (isArmed && digest !== null && marks.identity !== '' && digest !== marks.identity)
      listReason = 'other_account';
  }

  async function announceKept(): Promise<void> {
    const announced = kept;
    kept = [];
    [keptFilings, keptBytes] = [0, 0];
    // Filings are announced in the order of the pages.
    for (const announce of announced) await announce();
  }

  async function weighTimes(): Promise<void> {
    const reason = doubtOfTimes();
    if (isAccepted) isOverridden ||= reason !== null;
    else if (areTimesOpen) timesReason = reason;
    areTimesOpen = false;
    await announceKept();
  }

  async function weigh(expected: number): Promise<DoubtReason | null> {
    if (isOurs) return null;
    const reason = listDoubt({ ...evidence(), expected }, limits);
    if (seen === undefined && (reason !== null || kept.length > 0))
      noteAccount(await readIdentity(client, signal));
    if (listReason !== null) return listReason;
    if (reason !== null && !isAccepted) return reason;
    isOverridden ||= reason !== null;
    isOurs = true;
    await weighTimes();
    return null;
  }

  return {
    count(page, counted) {
      shownSoFar = {
        known,
        shown: shownSoFar.shown + page.known,
        unknown: shownSoFar.unknown + page.unknown,
        counted: Math.max(shownSoFar.counted, counted ?? 0),
        timed: shownSoFar.timed + page.timed,
        moved: shownSoFar.moved + page.moved,
      };
      return holds();
    },
    holds,
    holdsOfOne: () => ({ unknown: keepsBack(), moved: holds().moved && doubtOfTimes() !== null }),
    keep(filings, bytes, announce) {
      // They stay as they are known.
      if (timesReason !== null) return;
      const isTooMuch = keptFilings + filings > keptMax || keptBytes + bytes > keptBytesMax;
      if (isTooMuch || listReason !== null) {
        hasDropped = true;
        return;
      }
      waitsForList ||= keepsBack();
      keptFilings += filings;
      keptBytes += bytes;
      kept.push(announce);
    },
    async release() {
      if (!waitsForList || keepsBack()) return;
      waitsForList = false;
      await announceKept();
    },
    isOpen: () => isArmed && (kept.length > 0 || hasDropped || standing !== null),
    weigh,
    weighTimes,
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
      const reason = listReason ?? removalReason ?? timesReason;
      if (reason === null) return null;
      const { shown, unknown, gone, moved } = evidence();
      const identity = reason === 'other_account' ? (seen ?? '') : '';
      return { reason, known, shown, unknown, gone, moved, identity };
    },
    isOverridden: () => isOverridden,
    isToBeRepeated: () => hasDropped && listReason === null && timesReason === null && isOurs,
  };
}
