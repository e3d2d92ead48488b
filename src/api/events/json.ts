import type { LogEntry } from '../../events/event-log.ts';
import { toCheckpoint } from '../../events/event-log.ts';
import type { Checkpoint } from '../../events/timeline.ts';
import { decodeCursor, encodeCursor } from '../shared/cursor.ts';
import type { CursorKind } from '../shared/cursor.ts';

/**
 * An event as one line of JSON: the stored body, byte for byte, with the event's id in front. Parsing the
 * body and writing it again would change numbers that doubles cannot hold.
 */
export function eventJson({ id, body }: Pick<LogEntry, 'id' | 'body'>): string {
  return `{"id":${JSON.stringify(id)},${body.toString().slice(1)}`;
}

/** The cursor after a checkpoint of the log, in a list of events. */
export function checkpointCursor(
  { position, timeline }: Checkpoint,
  kind: CursorKind & ('events' | 'newest-events') = 'events',
): string {
  return encodeCursor(kind, timeline === '' ? String(position) : `${position} ${timeline}`);
}

/**
 * The checkpoint that a cursor stands for, null without a cursor; see `decodeCursor`. Cursors of older
 * versions have no timeline.
 */
export function decodeCheckpoint(
  kind: CursorKind & ('events' | 'newest-events'),
  cursor: string | undefined,
): Checkpoint | null {
  const text = decodeCursor(kind, cursor);
  return text === null ? null : toCheckpoint(text);
}
