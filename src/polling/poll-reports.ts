import type { UnsoundAccounts } from '../accounts/unsound-accounts.ts';
import type { RecordedEvent } from '../filings/observe-filings.ts';
import type { Clock } from '../redis/clock.ts';
import { unlessUnreadable } from '../redis/unreadable-record.ts';
import { reportHealth, type PollNews } from './health.ts';
import type { MeasuredPoll, PolledAccount } from './poll.ts';
import type { PollOutcome } from './poll-outcome.ts';
import type { PollingMarks } from './store/marks.ts';
import type { PollingStore } from './store/polling-store.ts';

/** One poll with its measurements, for logs and metrics. */
export interface PollReport extends MeasuredPoll {
  readonly account: string;
}

export interface PollReportsDeps {
  readonly polling: Pick<PollingStore, 'replace' | 'notePolled'>;
  /** Keeps the accounts whose polling is not as it should be. */
  readonly unsound: Pick<UnsoundAccounts, 'noteAgain'>;
  readonly clock: Pick<Clock, 'now'>;
  /** Called when events are in the log. */
  readonly onEvents: (account: string, events: readonly RecordedEvent[]) => void;
  /**
   * Wakes the subscriptions that want these events. A subscription's unreadable record does not keep a poll
   * from detecting changes.
   */
  readonly wakeMatching: (account: string, events: readonly RecordedEvent[]) => Promise<void>;
  readonly onPoll: (report: PollReport) => void;
}

/** Reports what the polls of a process have found, and how they ended; all reject when Redis does. */
export function createPollReports(deps: PollReportsDeps) {
  const { clock, polling } = deps;

  async function handOn(account: string, events: readonly RecordedEvent[]): Promise<void> {
    deps.onEvents(account, events);
    await unlessUnreadable(() => deps.wakeMatching(account, events));
  }

  async function health(account: PolledAccount, news: PollNews, marks: PollingMarks): Promise<void> {
    const reported = await reportHealth(deps, account, news, marks);
    if (reported !== null) await handOn(account.account, [reported]);
  }

  // The wait that a failure asks for is not age.
  function timeOf({ outcome, durationMs }: MeasuredPoll): number {
    return Math.round(clock.now() + (outcome.kind === 'failed' ? outcome.retryInMs : -durationMs));
  }

  return {
    /** Reports events that are in the log, and wakes the subscriptions that want them. */
    handOn,
    /**
     * Reports how the account is after the poll, or while it goes on; `marks` are the ones of that moment.
     */
    health,
    /** Reports a poll that has ended, one that read nothing by its health alone. */
    async ended(polled: PolledAccount, poll: MeasuredPoll, marks: PollingMarks) {
      const { account } = polled;
      await health(polled, poll.outcome, marks);
      if (isNothingRead(poll.outcome)) return;
      polling.notePolled({ account, at: timeOf(poll) });
      deps.onPoll({ ...poll, account });
    },
  };
}

function isNothingRead({ kind }: PollOutcome): boolean {
  return kind === 'backing_off' || kind === 'early' || kind === 'no_place' || kind === 'left_to_sweep';
}
