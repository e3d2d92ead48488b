import { statusAfter } from './event-types.ts';
import type { Checkpoint } from './timeline.ts';

/**
 * An event in an account's log without its body: the fields by which events are selected. Positions count
 * from 1 without gaps, so a lag is a subtraction.
 */
export interface OutlinedEntry extends Checkpoint {
  readonly id: string;
  readonly type: string;
  /** Empty for operational events. */
  readonly filingId: string;
  /** State abbreviation; empty where unknown. */
  readonly state: string;
  /** The filing's status after the event; empty where unknown, and for operational events. */
  readonly status: string;
  /** When it was written, milliseconds on Redis's clock. */
  readonly recordedAt: number;
  /** Length of its body. */
  readonly bytes: number;
  /** Only in entries of a version that kept bodies in them. */
  readonly inlineBody?: Buffer;
}

/** An event in an account's log. */
export interface LogEntry extends Omit<OutlinedEntry, 'inlineBody'> {
  /** The bytes to sign and send. */
  readonly body: Buffer;
}

/** A stretch of the log, without those of its entries that were trimmed while it was read. */
export interface LogRead {
  readonly entries: readonly LogEntry[];
  /** The entries between them whose body is missing or not the one that was written; missing without any. */
  readonly lost?: readonly OutlinedEntry[];
  /**
   * Whether there may be entries behind it. False: it reached the end of the log, or of the positions asked
   * for.
   */
  readonly more: boolean;
}

/** An entry of the stream as XRANGE gives it, also in a script. */
export type StreamEntry = readonly [Buffer, readonly Buffer[]];

/**
 * Reads an entry of the stream. Older versions wrote the body where the timeline stands now, and no status:
 * that is known from the type then, or not at all.
 */
export function toOutline([streamId, fields]: StreamEntry): OutlinedEntry {
  const field = (index: number) => fields[index] ?? Buffer.alloc(0);
  const type = field(3).toString();
  const isOld = field(10).toString() === 'body';
  return {
    position: Number.parseInt(streamId.toString(), 10),
    timeline: isOld ? '' : field(11).toString(),
    id: field(1).toString(),
    type,
    filingId: field(5).toString(),
    state: field(7).toString(),
    status: field(15).toString() || statusAfter(type),
    recordedAt: Number(field(9).toString()),
    bytes: isOld ? field(11).length : Number(field(13).toString()),
    ...(isOld ? { inlineBody: field(11) } : {}),
  };
}

/**
 * The entry with its body; null when the body was trimmed meanwhile, or has another length than the one that
 * was written.
 */
export function withBody({ inlineBody, ...entry }: OutlinedEntry, body: Buffer | null): LogEntry | null {
  const found = inlineBody ?? body;
  return found?.length === entry.bytes ? { ...entry, body: found } : null;
}

/**
 * The first entries whose bodies have no more than `bytesMax` bytes in all; at least one, if there is any.
 */
export function fitting<Entry extends Pick<OutlinedEntry, 'bytes'>>(
  entries: readonly Entry[],
  bytesMax: number,
): readonly Entry[] {
  let bytes = 0;
  const end = entries.findIndex((entry, i) => {
    bytes += entry.bytes;
    return i > 0 && bytes > bytesMax;
  });
  return end < 0 ? entries : entries.slice(0, end);
}
