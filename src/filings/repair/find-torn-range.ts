import { mayFollow, type Checkpoint } from '../../events/timeline.ts';
import type { OutlinedEntry } from '../../events/log-entry.ts';

/** Maximum number of events in one transaction. */
export const around = 200;

/** A stretch of a log with what stands behind it. */
export interface LogStretch {
  /** Oldest first. */
  readonly entries: readonly OutlinedEntry[];
  /** What their bodies say; null where there is none. */
  readonly told: readonly (ToldEvent | null)[];
  readonly head: Checkpoint;
  /** The newest entry of the log; null where it holds none. */
  readonly newest: Checkpoint | null;
  /**
   * The head when the log was looked at last, at the start of a run of the server; 0 where nobody knows. What
   * is torn before it is known of.
   */
  readonly checkedTo: number;
  /**
   * Whether half a transaction may have been carried out right behind it: that run's file was not rewritten.
   */
  readonly isOpen: boolean;
}

/** What a body says of its event. */
export interface ToldEvent {
  readonly type: string;
  readonly bytes: number;
  /** Empty where it is of no filing. */
  readonly filingId: string;
  readonly sequence: number;
  readonly status: string;
}

/** Where entries and bodies may be of different events. */
export interface Tear {
  /** First and last position. */
  readonly from: number;
  readonly to: number;
  /** Positions of which the entry and the body are certain to be of different events. */
  readonly mixed: readonly number[];
}

/**
 * Finds where half a transaction was carried out; pure. Entries that it appended keep later ones from their
 * positions: the bodies there are of others, and the timeline does not go on, neither to the next entry nor
 * to the head. Null where nothing speaks for it.
 */
export function findTear({ entries, told, head, newest, checkedTo, isOpen }: LogStretch): Tear | null {
  const to = Math.max(lastBreak(entries), isBehind(head, newest) ? (newest?.position ?? 0) : 0);
  const mixed = entries.flatMap((entry, i) =>
    entry.position <= to && isMixed(entry, told[i] ?? null) ? [entry.position] : [],
  );
  if (to <= checkedTo && mixed.length === 0) return null;
  const isNear = isOpen && to <= checkedTo + around;
  return { from: Math.min(isNear ? checkedTo + 1 : to, ...mixed), to, mixed };
}

/** What the body of an event says; pure. */
export function readTold(body: Buffer): ToldEvent {
  const { type, data } = parse(body);
  const { filingId, sequence, status } = data ?? {};
  return {
    type: typeof type === 'string' ? type : '',
    bytes: body.length,
    filingId: typeof filingId === 'string' ? filingId : '',
    sequence: typeof sequence === 'number' ? sequence : 0,
    status: typeof status === 'string' ? status : '',
  };
}

// The last position behind which the log does not go on; 0 where it does everywhere.
function lastBreak(entries: readonly OutlinedEntry[]): number {
  const next = entries.findLastIndex((entry, i) => {
    const former = entries[i - 1];
    return former !== undefined && !mayFollow(former, entry);
  });
  return entries[next - 1]?.position ?? 0;
}

function isBehind(head: Checkpoint, newest: Checkpoint | null): boolean {
  if (newest === null || newest.position < head.position) return false;
  if (newest.position > head.position) return true;
  return newest.timeline !== '' && newest.timeline !== head.timeline;
}

function isMixed({ inlineBody, type, filingId, bytes }: OutlinedEntry, told: ToldEvent | null): boolean {
  if (inlineBody !== undefined) return false;
  return told?.bytes !== bytes || told.type !== type || told.filingId !== filingId;
}

interface Envelope {
  readonly type?: unknown;
  readonly data?: Readonly<Record<string, unknown>>;
}

function parse(body: Buffer): Envelope {
  try {
    return (JSON.parse(body.toString()) ?? {}) as Envelope;
  } catch {
    return {};
  }
}
