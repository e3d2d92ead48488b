import type { FastifyReply } from 'fastify';
import type { LogEntry } from '../../events/event-log.ts';
import { toCheckpoint } from '../../events/event-log.ts';
import type { Checkpoint } from '../../events/timeline.ts';
import { type CursorKind, type CursorPath, decodeCursor, encodeCursor } from '../shared/paging.ts';

const comma = Buffer.from(',');

/**
 * An event as one line of JSON: the stored body, byte for byte, with the event's id in front. Parsing the
 * body and writing it again would change numbers that doubles cannot hold.
 */
export function eventJson({ id, body }: Pick<LogEntry, 'id' | 'body'>): string {
  return `{"id":${JSON.stringify(id)},${body.toString().slice(1)}`;
}

/**
 * As `eventJson`, but in bytes: the body of an event may have a quarter of a megabyte, and is only copied.
 */
function eventParts({ id, body }: Pick<LogEntry, 'id' | 'body'>): readonly Buffer[] {
  return [Buffer.from(`{"id":${JSON.stringify(id)},`), body.subarray(1)];
}

/** Events as the items of a JSON array, without its brackets. */
export function eventsJson(entries: readonly Pick<LogEntry, 'id' | 'body'>[]): readonly Buffer[] {
  return entries.flatMap((entry, i) => (i === 0 ? eventParts(entry) : [comma, ...eventParts(entry)]));
}

/** Answers an object with these fields, and events as they were stored in a list after them. */
export function sendJson(
  reply: FastifyReply,
  fields: object,
  list: string,
  entries: readonly Pick<LogEntry, 'id' | 'body'>[],
): FastifyReply {
  const head = Buffer.from(`${JSON.stringify(fields).slice(0, -1)},"${list}":[`);
  const body = Buffer.concat([head, ...eventsJson(entries), Buffer.from(']}')]);
  return reply.type('application/json; charset=utf-8').send(body);
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
  path?: CursorPath,
): Checkpoint | null {
  const text = decodeCursor(kind, cursor, path);
  return text === null ? null : toCheckpoint(text);
}
