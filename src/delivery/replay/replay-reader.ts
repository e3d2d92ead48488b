import type { LogEntry } from '../../events/event-log.ts';
import type { Lanes } from '../schedule/lanes.ts';
import type { Work } from '../schedule/track.ts';
import type { ReplayChanges } from '../store/settle-arguments.ts';
import type { ReplayRecord } from './replay-store.ts';

/** A replay with its lanes, as a drain works on it. */
export interface OpenReplay extends ReplayRecord {
  readonly lanes: Lanes;
}

/** Numbers of a replay's events that were delivered or failed for good. */
export interface ReplayCounts {
  readonly delivered: number;
  /** Given up once more. */
  readonly failed: number;
}

/** The event of an attempt that is made when it starts. */
export type Made =
  | { readonly kind: 'made'; readonly entry: LogEntry }
  | { readonly kind: 'unwanted' } // there is nothing to send, or nothing that is asked for
  | { readonly kind: 'waits'; readonly until: number }; // milliseconds on Redis's clock

/** Reads one replay on from where its state left it. */
export interface ReplayReader {
  readonly id: string;
  /** Reads on while there is room; true when it accepted any event. */
  read(): Promise<boolean>;
  /** Makes the event of an attempt; null where the log has it. */
  make(work: Work): Promise<Made | null>;
  /** Number of filings still to be sent; undefined where it sends events of the log. */
  readonly left?: () => number;
  letterAt(position: number): string | null;
  count(ended: ReplayCounts): void;
  removeChanges(): ReplayChanges;
  /** Null while its lanes are stored in the former way. */
  leave(): OpenReplay | null;
}
