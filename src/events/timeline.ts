import { hash } from 'node:crypto';

/**
 * A position in an account's log and its timeline, see `log.lua`: enough to find out, also after Redis was
 * set back, how far the log is still the one that it was taken from. An empty timeline is no longer known;
 * its position is then believed.
 */
export interface Checkpoint {
  readonly position: number;
  readonly timeline: string;
}

/** Before the first entry of any log. */
export const logBeginning: Checkpoint = { position: 0, timeline: '' };

const hashLength = 12;
const emptyHash = '0'.repeat(hashLength);

/** Whether two checkpoints of one log are the same. */
export function isSameCheckpoint(a: Checkpoint, b: Checkpoint): boolean {
  return a.position === b.position && a.timeline === b.timeline;
}

/**
 * Whether an entry may come next after a checkpoint. False is certain: Redis was set back between the two
 * reads. If entries between them were trimmed, or one has no timeline, true only means that there is no sign
 * of that.
 */
export function mayFollow(checkpoint: Checkpoint, entry: Checkpoint & { readonly id: string }): boolean {
  if (entry.position !== checkpoint.position + 1) return entry.position > checkpoint.position;
  if (entry.timeline === '') return true;
  if (checkpoint.timeline === '' && checkpoint.position > 0) return true;
  const former = checkpoint.timeline === '' ? emptyHash : checkpoint.timeline.slice(0, hashLength);
  return hash('sha1', former + entry.id).slice(0, hashLength) === entry.timeline.slice(0, hashLength);
}

/**
 * An event in an account's log without its body: the fields by which events are selected. Positions count
 * from 1 without gaps, so a lag is a subtraction.
 */
export interface OutlinedEntry extends Checkpoint {
  readonly id: string;
  readonly type: string;
  /** Empty for operational events. */
  readonly filingId: string;
  /** State abbreviation; empty if unknown. */
  readonly state: string;
  /** The filing's status after the event; empty if unknown, and for operational events. */
  readonly status: string;
  /** When it was written, milliseconds on Redis's clock. */
  readonly recordedAt: number;
  /** Length of its body. */
  readonly bytes: number;
}

/** An event in an account's log. */
export interface LogEntry extends OutlinedEntry {
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
export type StreamEntry = readonly [Buffer | string, readonly (Buffer | string)[]];

/** Reads an entry of the stream. */
export function toOutline([streamId, fields]: StreamEntry): OutlinedEntry {
  const text = (index: number) => fields[index]?.toString() ?? '';
  return {
    position: Number.parseInt(streamId.toString(), 10),
    timeline: text(11),
    id: text(1),
    type: text(3),
    filingId: text(5),
    state: text(7),
    status: text(15),
    recordedAt: Number(text(9)),
    bytes: Number(text(13)),
  };
}

/**
 * The entry with its body, or null if the body has since been trimmed or its length is not the one that was
 * written.
 */
export function withBody(entry: OutlinedEntry, body: Buffer | null): LogEntry | null {
  const { position, timeline, id, type, filingId, state, status, recordedAt, bytes } = entry;
  // Named one by one: the engine is several times as fast with that as with the rest of an object.
  return body?.length === bytes
    ? { position, timeline, id, type, filingId, state, status, recordedAt, bytes, body }
    : null;
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
