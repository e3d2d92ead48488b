import type { FastifyReply } from 'fastify';
import type { LogEntry } from '../../events/event-log.ts';
import { toCheckpoint } from '../../events/event-log.ts';
import type { Checkpoint } from '../../events/timeline.ts';
import { type CursorKind, type CursorPath, decodeCursor, encodeCursor } from '../shared/paging.ts';

const comma = Buffer.from(',');

/**
 * Answers an object with these fields, and in a list after them the bodies of events, byte for byte as they
 * were stored. Parsing one and writing it again would change numbers that doubles cannot hold.
 */
export function sendJson(
  reply: FastifyReply,
  fields: object,
  list: string,
  entries: readonly Pick<LogEntry, 'body'>[],
): FastifyReply {
  const head = Buffer.from(`${JSON.stringify(fields).slice(0, -1)},"${list}":[`);
  const events = entries.flatMap(({ body }, i) => (i === 0 ? [body] : [comma, body]));
  const text = Buffer.concat([head, ...events, Buffer.from(']}')]);
  return reply.type('application/json; charset=utf-8').send(text);
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
