import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { expect, test } from 'vitest';
import {
  longestWaiting,
  untaken,
  type Connection,
  type OpenConnections,
} from '../../../../src/api/server/connections.ts';

interface Shape {
  /** Bytes that wait for the client, of those written. */
  readonly pending?: number;
  readonly written?: number;
  /** Whether the whole request has arrived; null where there is none. */
  readonly complete?: boolean | null;
  readonly isOperators?: boolean;
}

/** Open connections, the one with the oldest activity first, each with its name in place of a socket. */
function connectionsOf(shapes: Readonly<Record<string, Shape>>): OpenConnections {
  const entries = Object.entries(shapes).map(([name, shape]): [Socket, Connection] => {
    const { pending = 0, written = pending, complete = true, isOperators = false } = shape;
    const socket = { name, writableLength: pending, bytesWritten: written };
    const answer = { req: { complete }, writableLength: pending };
    const answers = new Set(complete === null ? [] : [answer as ServerResponse]);
    return [socket as unknown as Socket, { answers, isOperators, taken: 0, since: 0 }];
  });
  return new Map(entries);
}

/** The name of the one that makes way for a newest. */
function whoMakesWay(connections: OpenConnections): string | null {
  const [[newest, connection] = []] = connectionsOf({ newest: { complete: null } });
  if (newest === undefined || connection === undefined) return null;
  connections.set(newest, connection);
  const found = longestWaiting(connections, newest);
  connections.delete(newest);
  return nameOf(found);
}

const nameOf = (socket: Socket | null) => (socket as unknown as { name: string } | null)?.name ?? null;

test('the client that has been waited for longest makes way, before those that do not take their answers', () => {
  const shapes = {
    operator: { complete: null, isOperators: true },
    unread: { pending: 10 },
    working: {},
    idle: { complete: null },
    later: { complete: false },
  };
  expect(whoMakesWay(connectionsOf(shapes))).toBe('idle');
  const { operator, unread, working } = shapes;
  expect(whoMakesWay(connectionsOf({ operator, unread, working }))).toBe('unread');
  expect(whoMakesWay(connectionsOf({ operator, working }))).toBe('operator');
  expect(whoMakesWay(connectionsOf({ working }))).toBeNull();
});

test('the next search begins behind those that stay', () => {
  const busy = Object.fromEntries(Array.from({ length: 1_500 }, (_, i) => [`busy-${i}`, {}]));
  const connections = connectionsOf({ ...busy, idle: { complete: null } });
  expect(whoMakesWay(connections)).toBeNull();
  expect(whoMakesWay(connections)).toBe('idle');
});

const ended = (connections: OpenConnections, now: number) =>
  untaken(connections, 30_000, now).map((socket) => nameOf(socket));

test('a client has thirty seconds, and a second for each 4 KiB that wait', () => {
  const connections = connectionsOf({ slow: { pending: 40_960, written: 50_000 } });
  expect(ended(connections, 1_000)).toEqual([]);
  expect(ended(connections, 41_000)).toEqual([]);
  expect(ended(connections, 41_001)).toEqual(['slow']);
});

test('a client that takes a piece is waited for from then on', () => {
  const connections = connectionsOf({ slow: { pending: 40_960, written: 50_000 } });
  expect(ended(connections, 1_000)).toEqual([]);
  for (const [socket] of connections) Object.assign(socket, { bytesWritten: 60_000 });
  expect(ended(connections, 41_000)).toEqual([]);
  expect(ended(connections, 81_000)).toEqual([]);
  expect(ended(connections, 81_001)).toEqual(['slow']);
});

test('answers hold 128 MiB at most: those that have been waited for longest end', () => {
  const half = 64 * 1024 * 1024;
  const connections = connectionsOf({ first: { pending: half }, second: { pending: half } });
  expect(ended(connections, 10)).toEqual([]);
  for (const [socket, connection] of connectionsOf({ third: { pending: half, written: half + 1 } }))
    connections.set(socket, connection);
  expect(ended(connections, 900)).toEqual([]);
  expect(ended(connections, 1_100)).toEqual(['first']);
});
