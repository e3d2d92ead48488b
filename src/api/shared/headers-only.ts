import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';

/**
 * The response to HEAD for a list: its headers without `content-length`, which only reading the list would
 * show (RFC 9110 §9.3.2). Call it after the checks of the request and before anything is read.
 */
export function headersOnly(reply: FastifyReply, type = 'application/json; charset=utf-8'): FastifyReply {
  // A text, even an empty one, would be measured.
  return reply.type(type).send(Readable.from([]));
}
