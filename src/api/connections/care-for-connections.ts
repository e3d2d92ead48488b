import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';
import { callerOf } from '../access/auth.ts';
import { defaultLimits } from '../access/access-limits.ts';
import { addressKey } from '../access/rate-limit.ts';
import { defaultTiming, type ApiDeps } from '../deps.ts';
import type { Api } from '../server/api-instance.ts';
import { endUnread } from './answer-deadlines.ts';
import { endConnectionsOnClose } from './end-on-close.ts';
import { limitConnections } from './limit-connections.ts';
import { followConnections, hasWholeRequest } from './open-connections.ts';

/** Heartbeats of a stream of which its client has to have taken one. */
const heartbeats = 2;
// Minimum milliseconds between two log lines: a flood cuts thousands of connections a second.
const againMs = 60_000;

/**
 * Limits the connections of an instance, ends those whose answers are not taken, and ends all of them when it
 * closes. Returns whether a whole request has arrived on a connection and is not answered yet.
 */
export function careForConnections(
  app: Api,
  {
    timing,
    limits,
    trustedProxies = [],
    door,
  }: Pick<ApiDeps, 'timing' | 'limits' | 'trustedProxies' | 'door'>,
): (socket: Socket) => boolean {
  const { unreadMs, answerMs, heartbeatMs } = { ...defaultTiming, ...timing };
  const { connections: max } = { ...defaultLimits, ...limits };
  const connections = followConnections(app.server, networks(trustedProxies), door?.sockets);
  endConnectionsOnClose(app, connections);
  const callers = limitConnections(
    app.server,
    connections,
    max,
    nowAndThen((cut) => app.log.warn({ connections: max, cut }, 'http.connections_full')),
  );
  app.addHook('onRequest', async ({ raw, ip }) => callers.from(raw.socket, addressKey(ip)));
  app.addHook('preValidation', async (request) => {
    const caller = callerOf(request);
    if (caller === null) return;
    callers.known(request.raw.socket, caller.kind === 'operator' ? null : caller.token.account);
  });
  const stop = endUnread(
    connections,
    { unreadMs, answerMs, unreadStreamMs: heartbeats * heartbeatMs },
    nowAndThen((ended) => app.log.info({ ended }, 'http.answers_not_taken')),
  );
  app.addHook('onClose', async () => stop());
  return (socket) => {
    const connection = connections.get(socket);
    return connection !== undefined && hasWholeRequest(connection);
  };
}

// Reports at once, and then at most once a minute, how often it was called since.
function nowAndThen(report: (times: number) => void): () => void {
  let reportedAt = -Infinity;
  let times = 0;
  return () => {
    times += 1;
    if (performance.now() - reportedAt < againMs) return;
    reportedAt = performance.now();
    report(times);
    times = 0;
  };
}

/** Whether an address is in one of these networks (CIDR). */
function networks(cidrs: readonly string[]): (address: string) => boolean {
  const parsed = cidrs.map((cidr) => ipaddr.parseCIDR(cidr));
  return (address) => {
    if (!ipaddr.isValid(address)) return false;
    const client = ipaddr.process(address);
    return parsed.some(([network, bits]) => network.kind() === client.kind() && client.match(network, bits));
  };
}
