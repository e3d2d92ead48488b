import type { NewEvent } from '../../events/event.ts';
import type { LogEntry } from '../../events/event-log.ts';
import type { ReplayState } from '../replay/replay.ts';
import type { Work } from '../schedule/track.ts';

/** The event of an attempt. */
interface MadeEvent {
  readonly kind: 'made';
  readonly entry: LogEntry;
  /** Id of the dead letter that its delivery makes up for; missing without one. */
  readonly letter?: string | undefined;
  /** True if a person chose the subscription for it: it is sent whatever the subscription asks for. */
  readonly isChosen?: boolean;
}

/** Why an attempt that was started has no event. */
export type Unmade =
  | { readonly kind: 'unwanted' } // there is nothing to send, or nothing that is asked for
  | { readonly kind: 'expired' } // retention has removed the event
  // It has to wait for other events of its filing, until a time in milliseconds on Redis's clock.
  | { readonly kind: 'waits'; readonly until: number };

/** The event of an attempt, or why there is none. */
export type Made = MadeEvent | Unmade;

/** An origin of a subscription's events: the log behind its cursor, a replay, or a snapshot of filings. */
export interface Source {
  /** The event of an attempt that was started. */
  make(work: Work): Promise<Made>;
}

/** A source that is sent beside the log at the request of a user: it has an end, and reads by itself. */
export interface ReplayedSource extends Source {
  /** Reads on while there is room; true when it took any event. */
  read(): Promise<boolean>;
  /** Number of filings still to be sent; missing if it sends events of the log. */
  readonly left?: () => number;
  /** What is kept of its reading beside the cursor, and whether all events behind the lanes are done. */
  progress(): Pick<ReplayState, 'snapshot'> & { readonly isRead: boolean };
}

/** An event that is in no log as an entry of one, recorded at a time (ms). */
export function toEntry({ body, ...event }: NewEvent, position: number, recordedAt: number): LogEntry {
  const bytes = Buffer.from(body);
  return { ...event, position, timeline: '', recordedAt, bytes: bytes.length, body: bytes };
}
