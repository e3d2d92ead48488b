import { mayFollow, type Checkpoint } from '../../events/timeline.ts';
import type { OutlinedEntry } from '../../events/log-entry.ts';

/** Maximum number of events in one transaction. */
export const around = 200;

/** A stretch of a log, with the bodies of its entries. */
export interface LogStretch {
  /** Oldest first. */
  readonly entries: readonly OutlinedEntry[];
  /** The facts of each entry's body; null where it has none. */
  readonly bodies: readonly (BodyFacts | null)[];
  readonly head: Checkpoint;
  /** The newest entry of the log; null where it holds none. */
  readonly newest: Checkpoint | null;
  /**
   * The head when the log was checked last, at the start of a run of the server; 0 where that is not known.
   * Torn ranges before it are known already.
   */
  readonly checkedTo: number;
  /**
   * Whether half a transaction may have been carried out right behind `checkedTo`: the file of that run was
   * not rewritten.
   */
  readonly isOpen: boolean;
}

/** The facts that a body states about its event. */
export interface BodyFacts {
  readonly type: string;
  readonly bytes: number;
  /** Empty where it is of no filing. */
  readonly filingId: string;
  readonly sequence: number;
  readonly status: string;
}

/** A range of positions where entries and bodies may belong to different events. */
export interface TornRange {
  /** First and last position. */
  readonly from: number;
  readonly to: number;
  /** Positions whose entry and body certainly belong to different events. */
  readonly mixed: readonly number[];
}

/**
 * Finds where half a transaction was carried out; null where there is no sign of one. Entries that it
 * appended hold the positions of later entries: the bodies there belong to others, and the timeline continues
 * neither to the next entry nor to the head.
 */
export function findTornRange({
  entries,
  bodies,
  head,
  newest,
  checkedTo,
  isOpen,
}: LogStretch): TornRange | null {
  const to = Math.max(lastBreak(entries), isBehind(head, newest) ? (newest?.position ?? 0) : 0);
  const mixed = entries.flatMap((entry, i) =>
    entry.position <= to && isMixed(entry, bodies[i] ?? null) ? [entry.position] : [],
  );
  if (to <= checkedTo && mixed.length === 0) return null;
  const isNear = isOpen && to <= checkedTo + around;
  return { from: Math.min(isNear ? checkedTo + 1 : to, ...mixed), to, mixed };
}

/** Reads the facts of a body; a body that is not an event has empty ones. */
export function readBodyFacts(body: Buffer): BodyFacts {
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

// The last position behind which the timeline does not continue; 0 where it always does.
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

function isMixed({ type, filingId, bytes }: OutlinedEntry, body: BodyFacts | null): boolean {
  return body?.bytes !== bytes || body.type !== type || body.filingId !== filingId;
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
