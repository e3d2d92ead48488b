import { answerKind, type AnswerKind } from '../../http/answer-kind.ts';
import { heldBytes, lookAt, type Connection, type OpenConnections } from './open-connections.ts';

/** Times in milliseconds after which an answer that is not taken ends its connection. */
export interface AnswerTimes {
  /** For a client that takes less than `paceBytes` a second. */
  readonly unreadMs: number;
  /** The same for event streams. */
  readonly unreadStreamMs: number;
  /** In all, for an answer that is in memory. */
  readonly answerMs: number;
}

/** Milliseconds for a list that is made as it is taken: a table of a million filings over a slow line. */
export const exportMs = 3_600_000;
// Maximum bytes in memory that wait for the clients of a server to take them.
const heldBytesMax = 128 * 1024 * 1024;
// Milliseconds for which a client is waited for before it makes way for others' answers.
const heldMs = 1_000;
// Milliseconds between two looks.
const lookMs = 1_000;

/** An answer's bytes in memory, and what they depend on. */
export interface Held<T> {
  readonly of: T;
  readonly bytes: number;
  /** Milliseconds for which the client has been waited for. */
  readonly waitedMs: number;
  /** The account whose token was used, else the client's address. */
  readonly holder: string | null;
}

/**
 * The answers that end so that the rest has at most `bytesMax`; pure. The holder with the most bytes begins,
 * with the client that has been waited for longest; those that take their answers well stay.
 */
export function whoFreesMemory<T>(held: readonly Held<T>[], bytesMax: number): T[] {
  const ended: T[] = [];
  let bytes = held.reduce((sum, each) => sum + each.bytes, 0);
  const byHolder = Map.groupBy(held, ({ holder }) => holder);
  const bytesOf = new Map(
    [...byHolder].map(([holder, all]) => [holder, all.reduce((sum, each) => sum + each.bytes, 0)]),
  );
  const mostFirst = held
    .filter((each) => each.bytes > 0 && each.waitedMs >= heldMs)
    .toSorted(
      (a, b) => (bytesOf.get(b.holder) ?? 0) - (bytesOf.get(a.holder) ?? 0) || b.waitedMs - a.waitedMs,
    );
  for (const each of mostFirst) {
    if (bytes <= bytesMax) break;
    bytes -= each.bytes;
    ended.push(each.of);
  }
  return ended;
}

/**
 * Ends connections whose clients do not take their answers in time, and those that hold the most memory when
 * all together hold too much. Looks once a second, until the function that it returns is called.
 */
export function endUnread(connections: OpenConnections, times: AnswerTimes, onEnd: () => void): () => void {
  function end({ socket }: Connection): void {
    socket.destroy();
    onEnd();
  }

  function look(): void {
    const now = performance.now();
    const held: Held<Connection>[] = [];
    for (const connection of connections.values()) {
      if (connection.answers.size === 0) continue;
      lookAt(connection, now);
      if (isLate(connection, times, now)) end(connection);
      else if (connection.unread !== null) {
        const { account, address, unread } = connection;
        const bytes = heldBytes(connection);
        held.push({ of: connection, bytes, waitedMs: unread.waitedMs, holder: account ?? address });
      }
    }
    for (const connection of whoFreesMemory(held, heldBytesMax)) end(connection);
  }

  const timer = setInterval(look, Math.min(lookMs, times.unreadMs / 4)).unref();
  return () => clearInterval(timer);
}

function isLate({ answers, unread }: Connection, times: AnswerTimes, now: number): boolean {
  for (const [response, since] of answers) {
    if (!response.headersSent) continue;
    const kind = answerKind(response);
    if (since === null) answers.set(response, now);
    else if (now - since > inAllMs(kind, times)) return true;
    if (unread !== null && unread.waitedMs > unreadMs(kind, times)) return true;
  }
  return false;
}

function inAllMs(kind: AnswerKind, { answerMs }: AnswerTimes): number {
  if (kind === 'stream') return Infinity; // it has an end of its own
  return kind === 'export' ? Math.max(answerMs, exportMs) : answerMs;
}

function unreadMs(kind: AnswerKind, times: AnswerTimes): number {
  return kind === 'stream' ? times.unreadStreamMs : times.unreadMs;
}
