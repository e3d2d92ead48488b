// oxlint-disable promise/no-callback-in-promise -- Connectors of undici take a callback.
import type { Socket } from 'node:net';
import { TLSSocket, type SecureContext } from 'node:tls';
import { buildConnector } from 'undici';
import type { EgressPolicy } from '../../egress/address-policy.ts';
import { BlockedAddressError, lookupVetted } from '../../egress/vetted-lookup.ts';
import type { HostLookup } from '../../names/host-lookup.ts';
import { dial, type Dialled } from '../../names/dial.ts';
import { limitTickets } from '../../names/ticket-limit.ts';
import type { SessionsOfHosts } from './kept-sessions.ts';
import { awaitFirstWord } from '../tls/first-word.ts';
import type { Tunnels } from '../../proxy/tunnels.ts';
import { openContext, PinMismatchError, showsPinnedKey, type ConnectionIdentity } from '../tls/identity.ts';
import { openTunnelTo } from './tunnel-connector.ts';

/**
 * Rules of the connector. `owner` is the one whose lookups it makes, `ca` replaces the trusted certificates,
 * `identity` does so in its place and shows a certificate of the client.
 */
export interface ConnectorDeps {
  readonly policy: EgressPolicy;
  readonly lookup: HostLookup;
  readonly owner?: string;
  readonly timeoutMs: number;
  readonly ca?: string;
  readonly identity?: ConnectionIdentity | undefined;
  /** Tunnels through the forward proxy, for the hosts that it takes; without them all is dialled directly. */
  readonly tunnels?: Tunnels | undefined;
  /** Opens what connections without an identity trust, instead of `ca`: one for all, each takes 30 KB. */
  readonly trusts?: () => SecureContext;
  /** The TLS sessions that it resumes; none without it, and none where a key is pinned. */
  readonly sessions?: SessionsOfHosts;
}

/** A connector of undici; `dialled` gets the addresses that it tries. */
export type CallbackConnector = (
  options: buildConnector.Options,
  callback: buildConnector.Callback,
  dialled?: Dialled[],
) => void;

/**
 * Opens connections to permitted addresses only, for http and https alike. A host name is refused if any of
 * its addresses is refused. The dialled address is judged once more. Hosts that `tunnels` takes are judged
 * before the proxy hears of them, and reached through it. TLS asks for and verifies the host name. Where
 * OpenSSL does not take the identity, each connection fails with its error.
 */
export function createCallbackConnector(deps: ConnectorDeps): CallbackConnector {
  const secure = secureConnector(deps);
  return (options, callback, dialled) => {
    const isTls = options.protocol === 'https:';
    const port = Number(options.port) || (isTls ? 443 : 80);
    const host = options.hostname.replace(/^\[(.*)\]$/, '$1');
    const opened =
      deps.tunnels?.takes(host, port) === true
        ? openTunnelTo(deps.tunnels, deps, host, port)
        : dialVetted(deps, host, port, dialled);
    const done: buildConnector.Callback = (...result) => {
      const [error, socket] = result;
      if (error !== null) callback(error, null);
      else admit(deps, socket, callback);
    };
    opened.then(
      (socket) => {
        if (isTls) secure({ ...options, httpSocket: socket }, done);
        else done(null, socket);
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
    );
  };
}

async function dialVetted(
  deps: ConnectorDeps,
  host: string,
  port: number,
  dialled: Dialled[] = [],
): Promise<Socket> {
  const socket = await dial(await lookupVetted(host, deps), port, deps.timeoutMs, dialled);
  const address = socket.remoteAddress;
  // A socket without an address has lost its peer: nothing sent on it arrives.
  if (address === undefined || deps.policy.isAllowed(address)) return socket;
  socket.destroy();
  throw new BlockedAddressError();
}

// Begins TLS on a connection.
function secureConnector(deps: ConnectorDeps): buildConnector.connector {
  // Sessions of the connector itself are gone with the next collection of garbage.
  const base = { allowH2: false, timeout: deps.timeoutMs, maxCachedSessions: 0 };
  const trusts = trustOf(deps);
  const sessions = deps.identity?.tls.pin == null ? deps.sessions : undefined;
  return (options, callback) => {
    const { hostname, host = hostname, servername = hostname } = options;
    // By the name that is verified, too.
    const verified = `${servername} ${host}`;
    try {
      const kept = sessions?.get(verified);
      const connect = buildConnector({ ...base, ...trusts(), ...(kept && { session: kept.session }) });
      connect(options, (...opened) => {
        const [error, socket] = opened;
        if (error === null) limitTickets(socket);
        if (error === null) sessions?.follow(verified, socket, kept);
        else if (kept !== undefined) sessions?.forget(verified, kept);
        callback(...opened);
      });
    } catch (error) {
      queueMicrotask(() => callback(error as Error, null));
    }
  };
}

function trustOf({ ca, identity, trusts }: ConnectorDeps): () => buildConnector.BuildOptions {
  if (identity === undefined) {
    return () => ({ ...(ca !== undefined && { ca }), ...(trusts && { secureContext: trusts() }) });
  }
  const { tls } = identity;
  let context: SecureContext | undefined;
  return () => {
    context ??= openContext(tls.ca === null && ca !== undefined ? { ...tls, ca } : tls);
    return { secureContext: context, rejectUnauthorized: true };
  };
}

function admit(deps: ConnectorDeps, socket: Socket, callback: buildConnector.Callback): void {
  const { identity } = deps;
  if (identity === undefined) {
    callback(null, socket);
    return;
  }
  if (!(socket instanceof TLSSocket && showsPinnedKey(identity.tls, socket))) {
    socket.destroy();
    callback(new PinMismatchError(), null);
    return;
  }
  awaitFirstWord(socket, (error) => {
    if (error === null) callback(null, socket);
    else callback(error, null);
  });
}
