import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { createBoundedMap } from '../../memory/bounded-map.ts';
import {
  hasWholeRequest,
  isStream,
  lookAt,
  type Connection,
  type OpenConnections,
} from './open-connections.ts';
import { whoMakesWay, type Claim } from './who-makes-way.ts';

/** Callers as they become known, so that the operator keeps a place. */
export interface Callers {
  /** A request came from this address, the client's own behind a trusted proxy too. */
  from(socket: Socket, address: string): void;
  /** The token of a request on this connection is valid: the operator's, or one of an account. */
  known(socket: Socket, account: string | null): void;
}

// Milliseconds for which the operator's token counts for its connection and its address.
const operatorMs = 600_000;
const operatorsMax = 1_000;
// Milliseconds for which a choice of connections that make way holds.
const choiceMs = 500;
// Share of the connections of which one choice is made: it costs a look at all.
const chosenShare = 1 / 16;
/** Share of the places that the operator keeps. */
const reserveShare = 1 / 16;
const reserveMin = 2;

/**
 * Keeps at most `max` connections open: one more cuts another one, of those whose clients are waited for
 * (`whoMakesWay`). If nothing may be cut, that is the new one.
 */
export function limitConnections(
  server: Server,
  connections: OpenConnections,
  max: number,
  onCut: () => void,
): Callers {
  const operators = createBoundedMap<string, number>(operatorsMax);
  const reserve = Math.max(reserveMin, Math.floor(max * reserveShare));
  let chosen: Connection[] = [];
  let chosenAt = -Infinity;

  function claim(connection: Connection, now: number): Claim<Connection> {
    const { address, account } = connection;
    return {
      of: connection,
      address,
      account,
      operator: operatorOf(connection, now),
      ...state(connection, now),
    };
  }

  function operatorOf({ operatorAt, address }: Connection, now: number): Claim<Connection>['operator'] {
    if (now - operatorAt < operatorMs) return 'here';
    const seenAt = address === null ? -Infinity : (operators.get(address) ?? -Infinity);
    return now - seenAt < operatorMs ? 'near' : null;
  }

  function next(now: number): Connection | undefined {
    for (;;) {
      const connection = chosen.shift();
      if (connection === undefined) return undefined;
      // Since the choice its request may have arrived, or its answer been taken.
      const isAsChosen = connection.activeAt <= chosenAt && connections.has(connection.socket);
      if (isAsChosen && !connection.socket.destroyed) return connection;
      if (now - chosenAt > choiceMs) return undefined;
    }
  }

  function makeWay(newest: Connection): Connection {
    const now = performance.now();
    if (now - chosenAt > choiceMs) chosen = [];
    const known = next(now);
    if (known !== undefined) return known;
    const claims = [...connections.values()].map((each) => claim(each, now));
    chosenAt = now;
    chosen = whoMakesWay(claims, reserve).slice(0, Math.ceil(connections.size * chosenShare));
    return next(now) ?? newest;
  }

  server.on('connection', (socket: Socket) => {
    const newest = connections.get(socket);
    if (connections.size <= max || newest === undefined) return;
    const { socket: cut } = makeWay(newest);
    connections.delete(cut);
    cut.destroy();
    onCut();
  });

  return {
    from(socket, address) {
      const connection = connections.get(socket);
      if (connection?.isProxys === true) connection.address = address;
    },
    known(socket, account) {
      const connection = connections.get(socket);
      if (connection === undefined) return;
      connection.account = account;
      if (account !== null) return;
      connection.operatorAt = performance.now();
      if (connection.address !== null) operators.set(connection.address, connection.operatorAt);
    },
  };
}

function state(connection: Connection, now: number): Pick<Claim<Connection>, 'doing' | 'waitedMs'> {
  if (!hasWholeRequest(connection)) return { doing: 'waiting', waitedMs: now - connection.activeAt };
  lookAt(connection, now);
  const { unread } = connection;
  if (unread !== null) return { doing: 'waiting', waitedMs: Math.max(0, unread.waitedMs) };
  return { doing: isStream(connection) ? 'streaming' : 'working', waitedMs: now - connection.activeAt };
}
