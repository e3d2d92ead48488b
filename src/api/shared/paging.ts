import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { orNull } from '../../json/or-null.ts';
import { Problem } from './problem.ts';

/** Default number of items per page. */
export const pageLimit = 50;

const version = 1;

const anyText = /^/;
const checkpoint = /^\d{1,15}(?: [0-9a-f]{48})?$/;

// The form of positions in each list: on others, Redis or arithmetic would fail. Any text is one to compare
// with.
const forms = {
  accounts: anyText,
  tokens: anyText,
  subscriptions: /^\d{15} [^]/,
  attempts: /^\d{1,15}-\d{1,15} sub_[0-9A-Za-z]{1,64}$/,
  replays: anyText,
  deliveries: /^\d{15} [^]/,
  'dead-letters': /^\d{1,15}-\d{1,15}$/,
  events: checkpoint,
  'newest-events': checkpoint,
  completions: checkpoint,
  filings: /^\d{1,19}(?: |$)/,
  'found-filings':
    /^(?:k(?: \d{1,16}(?:\+\d{1,16})? [^ ]{1,64} [\w-]{1,600} [^]+)?|i(?: \d{1,19}(?: [^]*)?)?|s \d{1,9})$/,
  rejections: /^\d{1,16}(?:\+\d{1,16})? [^ ]{1,64} [\w-]{1,600} [^]+$/,
};

/**
 * The paged lists, some of them with their filters behind a colon; a cursor of one does not work for another.
 */
export type CursorKind = keyof typeof forms | `${'filings' | 'found-filings' | 'rejections'}:${string}`;

/** The parts of a request that hold a cursor. */
export type CursorPath = keyof typeof refused;

const refused = {
  cursor: 'Pass a nextCursor exactly as this list returned it, with the same filters, or none to start over.',
  'last-event-id':
    'Send the last id of this stream in Last-Event-ID, exactly as it came, or leave the header out; the id of an event is another.',
} as const;

/** Makes an opaque cursor that stands for a position in one kind of list. */
export function encodeCursor(kind: CursorKind, position: string): string {
  const text = JSON.stringify([version, position, checksum(kind, position)]);
  return Buffer.from(text).toString('base64url');
}

/**
 * The position that a cursor of this kind stands for, null without a cursor. Throws the problem
 * `invalid_cursor` for anything but a cursor that `encodeCursor` made for such a list. The checksum ties a
 * cursor to its list and detects an altered character, which could skip items silently. It has no secret: a
 * cursor grants nothing, and a forged one opens nothing that a genuine one does not.
 */
export function decodeCursor(
  kind: CursorKind,
  cursor: string | undefined,
  path: CursorPath = 'cursor',
): string | null {
  if (cursor === undefined) return null;
  const [found, position, check] = parse(cursor);
  const isMade = found === version && typeof position === 'string' && check === checksum(kind, position);
  const [list = kind] = kind.split(':', 1);
  if (isMade && forms[list as keyof typeof forms].test(position)) return position;
  throw new Problem('invalid_cursor', refused[path], { errors: [{ path, message: 'is not valid' }] });
}

function parse(cursor: string): unknown[] {
  const bytes = Buffer.from(cursor, 'base64url');
  if (bytes.toString('base64url') !== cursor) return [];
  const value = orNull((): unknown => JSON.parse(bytes.toString()));
  return Array.isArray(value) ? value : [];
}

function checksum(kind: CursorKind, position: string): string {
  return createHash('sha256').update(`${version} ${kind} ${position}`).digest('base64url').slice(0, 8);
}

/**
 * The response to HEAD for a list: its headers without `content-length`, which only reading the list would
 * show (RFC 9110 §9.3.2). Call it after the checks of the request and before anything is read.
 */
export function headersOnly(reply: FastifyReply, type = 'application/json; charset=utf-8'): FastifyReply {
  // A text, even an empty one, would be measured.
  return reply.type(type).send(Readable.from([]));
}

/** A part of a list, and the position after it; null at the end of the list. */
export interface Part<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

/** A request for a list. */
export type ListRequest = Pick<FastifyRequest, 'method'> & {
  readonly query: { readonly limit?: number; readonly cursor?: string };
};

/**
 * Answers a page of a list; `read` gets the position after which it begins, null for the first page, and
 * returns the part and other fields of the answer. HEAD gets the headers, and nothing is read.
 */
export async function sendPage<T, More extends object>(
  { method, query: { limit = pageLimit, cursor } }: ListRequest,
  reply: FastifyReply,
  kind: CursorKind,
  read: (after: string | null, limit: number) => Promise<Part<T> & More>,
): Promise<
  FastifyReply | (Omit<Part<T> & More, 'items' | 'next'> & { items: T[]; nextCursor: string | null })
> {
  const after = decodeCursor(kind, cursor);
  if (method === 'HEAD') return headersOnly(reply);
  const { items, next, ...more } = await read(after, limit);
  return { ...more, items: [...items], nextCursor: next === null ? null : encodeCursor(kind, next) };
}
