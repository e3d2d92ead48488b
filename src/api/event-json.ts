import type { LogEntry } from '../events/event-log.ts';
import { encodeCursor } from './cursor.ts';

/**
 * An event as one line of JSON: the stored body, byte for byte, with the event's id put in front. Parsing the body and writing it again would
 * change numbers that doubles cannot hold.
 */
export function eventJson({ id, body }: Pick<LogEntry, 'id' | 'body'>): string {
  return `{"id":${JSON.stringify(id)},${body.toString().slice(1)}`;
}

/** The cursor behind the event at a position of the log; 0 is before the first. */
export function positionCursor(position: number): string {
  return encodeCursor('events', String(position));
}
