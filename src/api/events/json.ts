import type { FastifyReply } from 'fastify';
import type { LogEntry } from '../../events/event-log.ts';
import { toCheckpoint } from '../../events/event-log.ts';
import type { Checkpoint } from '../../events/timeline.ts';
import { type CursorKind, type CursorPath, decodeCursor, encodeCursor } from '../shared/paging.ts';

const comma = Buffer.from(',');

/**
 * Events as the items of a JSON array, without its brackets: the stored bodies, byte for byte. Parsing one
 * and writing it again would change numbers that doubles cannot hold.
 */
export function eventsJson(entries: readonly Pick<LogEntry, 'body'>[]): readonly Buffer[] {
  return entries.flatMap(({ body }, i) => (i === 0 ? [body] : [comma, body]));
}

/** Answers an object with these fields, and events as they were stored in a list after them. */
export function sendJson(
  reply: FastifyReply,
  fields: object,
  list: string,
  entries: readonly Pick<LogEntry, 'body'>[],
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
