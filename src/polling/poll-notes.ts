import { SnapshotLostError } from '../filings/commit/commit-writer.ts';
import type { PartnerError } from '../partner/partner-error.ts';
import type { Clock } from '../redis/clock.ts';
import { healthState, staleAfterMs, type PollNews } from './health.ts';
import type { PolledAccount } from './poll.ts';
import { describeError } from './poll-outcome.ts';
import type { MarksUpdate, PollingMarks } from './store/marks.ts';
import type { PollingStore } from './store/polling-store.ts';
import { meanwhile } from './upkeep.ts';

export interface PollNotesDeps {
  readonly polling: Pick<PollingStore, 'read' | 'write'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Milliseconds between two notes of a late poll, at most. */
  readonly upkeepMs: number;
  /** A note that failed while a poll goes on. */
  readonly onError: (error: Error) => void;
  readonly reportHealth: (account: PolledAccount, news: PollNews, marks: PollingMarks) => Promise<void>;
}

// Milliseconds of a rest from which on it is noted; shorter ones belong to finding the pace.
const notedRestMs = 5_000;

/**
 * Notes in an account's health about a poll that goes on, or that cannot begin; the marks at its end
 * overwrite them. A note for an account that was removed, or begun anew, is lost; all reject when Redis does.
 */
export function createPollNotes({ polling, clock, upkeepMs, onError, reportHealth }: PollNotesDeps) {
  // Writes the notes that `update` decides on from the marks, then reports the health if asked to.
  async function note(
    account: PolledAccount,
    update: (marks: PollingMarks) => MarksUpdate | null,
    isReported = true,
  ): Promise<void> {
    const before = await polling.read(account.account);
    const changes = update(before);
    try {
      const { generation } = before;
      const marks = changes && (await polling.write(account.account, generation, changes, 0));
      if (isReported) await reportHealth(account, { kind: 'waiting' }, marks ?? before);
    } catch (error) {
      // The poll finds it too.
      if (!(error instanceof SnapshotLostError)) throw error;
    }
  }

  // Why an unfinished poll is late, or null if its account is not stale because of it.
  function lateness(
    { pollIntervalMs, createdAt }: PolledAccount,
    marks: PollingMarks,
    waitedMs: number,
    takenMs: number,
  ): MarksUpdate | null {
    if (waitedMs > pollIntervalMs) return { budgetWaitMs: Math.round(waitedMs) };
    const state = healthState(marks, pollIntervalMs, createdAt, clock.now());
    if (state !== 'stale' || marks.lastError !== '') return null;
    const seconds = Math.round(takenMs / 1_000);
    return { lastError: `the poll under way has taken ${seconds} s and has not ended` };
  }

  return {
    /**
     * Reads, and notes from time to time that the poll is late: its account is not to look healthy until it
     * ends. No note is left behind when the reads have ended. `waitedForTurnMs` as in `RequestBudget`.
     */
    whileReading<T>(
      account: PolledAccount,
      waitedForTurnMs: () => number,
      read: () => Promise<T>,
    ): Promise<T> {
      const waitedBefore = waitedForTurnMs();
      const begunAt = performance.now();
      const everyMs = Math.min(upkeepMs, staleAfterMs(account.pollIntervalMs));
      const upkeep = () =>
        note(account, (marks) => {
          const waitedMs = waitedForTurnMs() - waitedBefore;
          return lateness(account, marks, waitedMs, performance.now() - begunAt);
        });
      return meanwhile(upkeep, { everyMs, onError }, read);
    },
    /** Notes why the poll rests, and for how many milliseconds; short rests are left out. */
    async rest(account: PolledAccount, refusal: PartnerError, waitMs: number) {
      if (waitMs < notedRestMs) return;
      const lastError = `${describeError(refusal)}; the poll goes on after ${Math.round(waitMs / 1_000)} s`;
      await note(account, () => ({ lastError }), false);
    },
    /** Notes why the account is not polled at all; it becomes stale as any other. */
    unpolled: (account: PolledAccount, { message }: Error) => note(account, () => ({ lastError: message })),
  };
}
