import type { Deadlines } from '../../filings/detection/deadlines.ts';
import type { LateFilings } from '../../filings/detection/decide-commit.ts';
import type { RecordedEvent } from '../../filings/observe-filings.ts';
import type { SnapshotStore } from '../../filings/snapshot-store.ts';
import type { PartnerClient } from '../../partner/partner-client.ts';
import type { Clock } from '../../redis/clock.ts';
import type { CountDifferences } from '../beliefs/count-differences.ts';
import type { MissedRead } from '../beliefs/missed-reads.ts';
import type { PollingMarks } from '../store/marks.ts';
import type { PollingStore } from '../store/polling-store.ts';
import type { BodyAllowance } from '../../filings/body-allowance.ts';

/** The dependencies of the reads of all polls of an account. */
export interface ReadDeps {
  readonly snapshot: SnapshotStore;
  readonly polling: PollingStore;
  readonly differences: CountDifferences;
  /** Maximum bytes of a filing, as JSON, that its events carry. */
  readonly filingBytesMax: number;
  readonly bodies: BodyAllowance;
  readonly random: () => number;
  readonly now: () => number;
  readonly clock: Clock;
  /**
   * Reports events and wakes the subscriptions that want them, as soon as a read has put them into the log:
   * delivery does not wait for the poll's end.
   */
  readonly handOn: (account: string, events: readonly RecordedEvent[]) => Promise<void>;
  /** Records left out of a list, as no filings or unreadable: their number, and the names of a few. */
  readonly onQuarantined: (account: string, records: number, examples: readonly string[]) => void;
}

/** The state that one poll begins with. */
export interface PollInput {
  readonly account: {
    readonly account: string;
    readonly pollIntervalMs: number;
    readonly sweepIntervalMs: number;
  };
  readonly client: Omit<PartnerClient, 'counting'>;
  readonly marks: PollingMarks;
  /** Number of known filings, removed ones left out, before the poll. */
  readonly known: number;
  /** Known filings that could not be read, as of the beginning; the poll keeps them up to date. */
  readonly missedReads: Map<string, MissedRead>;
  readonly deadlines: Deadlines;
  /** Filings of which the poll may report that they have passed one. */
  readonly late: LateFilings;
  /** Start of the poll, before its first read. */
  readonly startedAt: number;
  /** True when the whole list is long. */
  readonly isLong?: boolean;
  readonly signal: AbortSignal;
}
