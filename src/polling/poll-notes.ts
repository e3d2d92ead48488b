import type { Account, KeyedAccount } from '../accounts/account.ts';
import { SnapshotLostError } from '../filings/commit/commit-writer.ts';
import type { PartnerError } from '../partner/partner-error.ts';
import type { Clock } from '../redis/clock.ts';
import { healthState, staleAfterMs, type PollNews } from './health.ts';
import type { PartnerConnection } from './partner-connections.ts';
import { describeError } from './poll-outcome.ts';
import type { MarksUpdate } from './store/marks.ts';
import type { PollingStore } from './store/polling-store.ts';
import { meanwhile } from './upkeep.ts';

/**
 * Notes in an account's health about a poll that goes on, or that cannot begin; the marks at its end
 * overwrite them. A note for an account that was removed, or begun anew, is lost; all reject when Redis does.
 */
export interface PollNotes {
  /**
   * Reads, and notes from time to time that the poll is late: its account is not to look healthy until it
   * ends. No note is left behind when the reads have ended.
   */
  whileReading<T>(account: KeyedAccount, connection: PartnerConnection, read: () => Promise<T>): Promise<T>;
  /** Notes why the poll rests, and for how many milliseconds; short rests are left out. */
  rest(account: KeyedAccount, refusal: PartnerError, waitMs: number): Promise<void>;
  /** Notes why the account is not polled at all; it becomes stale as any other. */
  unpolled(account: Account, reason: Error): Promise<void>;
}

export interface PollNotesDeps {
  readonly polling: Pick<PollingStore, 'read' | 'write'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Milliseconds between two notes of a late poll, at most. */
  readonly upkeepMs: number;
  /** A note that failed while a poll goes on. */
  readonly onError: (error: Error) => void;
  readonly reportHealth: (account: Account, news: PollNews) => Promise<void>;
}

// Milliseconds of a rest from which on it is noted; shorter ones belong to finding the pace.
const notedRestMs = 5_000;

/** The notes of all polls of a process. */
export function createPollNotes({
  polling,
  clock,
  upkeepMs,
  onError,
  reportHealth,
}: PollNotesDeps): PollNotes {
  async function note({ account }: Account, marks: MarksUpdate): Promise<void> {
    const { generation } = await polling.read(account);
    await polling.write(account, generation, marks, 0).catch(unlessLost);
  }

  const reportWaiting = (account: Account) => reportHealth(account, { kind: 'waiting' }).catch(unlessLost);

  async function noteLate(account: KeyedAccount, waitedMs: number, takenMs: number): Promise<void> {
    const isOverBudget = waitedMs > account.pollIntervalMs;
    if (isOverBudget) await note(account, { budgetWaitMs: Math.round(waitedMs) });
    else await noteLongPoll(account, takenMs);
    await reportWaiting(account);
  }

  async function noteLongPoll(account: KeyedAccount, takenMs: number): Promise<void> {
    const { pollIntervalMs, createdAt } = account;
    const marks = await polling.read(account.account);
    const state = healthState(marks, pollIntervalMs, createdAt, clock.now());
    if (state !== 'stale' || marks.lastError !== '') return;
    const seconds = Math.round(takenMs / 1_000);
    await note(account, { lastError: `the poll under way has taken ${seconds} s and has not ended` });
  }

  return {
    whileReading(account, { budget: { waitedForTurnMs } }, read) {
      const waitedBefore = waitedForTurnMs();
      const begunAt = performance.now();
      const everyMs = Math.min(upkeepMs, staleAfterMs(account.pollIntervalMs));
      const upkeep = () => noteLate(account, waitedForTurnMs() - waitedBefore, performance.now() - begunAt);
      return meanwhile(upkeep, { everyMs, onError }, read);
    },
    async rest(account, refusal, waitMs) {
      if (waitMs < notedRestMs) return;
      const lastError = `${describeError(refusal)}; the poll goes on after ${Math.round(waitMs / 1_000)} s`;
      await note(account, { lastError });
    },
    async unpolled(account, { message }) {
      await note(account, { lastError: message });
      await reportWaiting(account);
    },
  };
}

// The poll finds it too.
function unlessLost(error: unknown): void {
  if (!(error instanceof SnapshotLostError)) throw error;
}
