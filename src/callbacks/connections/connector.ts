import { isIP } from 'node:net';
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { buildConnector } from 'undici';
import type { EgressPolicy } from '../../egress/address-policy.ts';
import { BlockedAddressError, lookupVetted } from '../../egress/vetted-lookup.ts';
import type { HostLookup } from '../../names/host-lookup.ts';
import { lookupFunction } from '../../names/lookup-function.ts';
import { awaitFirstWord } from '../tls/first-word.ts';
import type { Tunnels } from '../../proxy/tunnels.ts';
import { openContext, PinMismatchError, showsPinnedKey, type ConnectionIdentity } from '../tls/identity.ts';
import { connectThrough } from './tunnel-connector.ts';

/**
 * Rules of the connector. `owner` is the one whose lookups it makes, `ca` replaces the trusted certificates,
 * `identity` does so in its place and shows a certificate of the client, `onSocket` is called with each
 * connected socket.
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
  /** Called with a socket that is connected, before it is known whether it may be used. */
  readonly onOpened?: (socket: Socket) => void;
  readonly onSocket: (socket: Socket) => void;
}

/**
 * Opens connections to permitted addresses only, for http and https alike. A host name is refused if any of
 * its addresses is refused. Address literals never reach a lookup hook and are judged before it. The dialled
 * address is judged once more. Hosts that `tunnels` takes are judged before the proxy hears of them, and
 * reached through it. TLS asks for and verifies the host name. Each connector resumes its own TLS
 * sessions only. Where OpenSSL does not take the identity, each connection fails with its error.
 */
export function createCallbackConnector(deps: ConnectorDeps): buildConnector.connector {
  const connect = openConnector(deps);
  const direct: buildConnector.connector = (options, callback) => {
    if (isIP(options.hostname) !== 0 && !deps.policy.isAllowed(options.hostname)) {
      queueMicrotask(() => callback(new BlockedAddressError(), null));
      return;
    }
    connect(options, (error, socket) => {
      if (error !== null) callback(error, null);
      else admitDialled(deps, socket, callback);
    });
  };
  if (deps.tunnels === undefined) return direct;
  return connectThrough(deps.tunnels, deps, {
    direct,
    connect,
    admit: (socket, callback) => admit(deps, socket, callback),
  });
}

function openConnector(deps: ConnectorDeps): buildConnector.connector {
  try {
    return buildConnector({
      allowH2: false,
      timeout: deps.timeoutMs,
      lookup: lookupFunction((hostname) => lookupVetted(hostname, deps)),
      ...trustOf(deps),
    });
  } catch (error) {
    return (_, callback) => queueMicrotask(() => callback(error as Error, null));
  }
}

function trustOf({ ca, identity }: ConnectorDeps): buildConnector.BuildOptions {
  if (identity === undefined) return ca === undefined ? {} : { ca };
  const { tls } = identity;
  const trusted = tls.ca === null && ca !== undefined ? { ...tls, ca } : tls;
  return {
    secureContext: openContext(trusted),
    rejectUnauthorized: true,
    ...(tls.pin === null ? {} : { maxCachedSessions: 0 }),
  };
}

function admitDialled(deps: ConnectorDeps, socket: Socket, callback: buildConnector.Callback): void {
  const address = socket.remoteAddress;
  // A socket without an address has lost its peer: nothing sent on it arrives.
  if (address !== undefined && !deps.policy.isAllowed(address)) {
    socket.destroy();
    callback(new BlockedAddressError(), null);
    return;
  }
  admit(deps, socket, callback);
}

function admit(deps: ConnectorDeps, socket: Socket, callback: buildConnector.Callback): void {
  const { identity } = deps;
  // The endpoint's sessions come with its first words.
  deps.onOpened?.(socket);
  const ready = (): void => {
    deps.onSocket(socket);
    callback(null, socket);
  };
  if (identity === undefined) {
    ready();
    return;
  }
  if (!(socket instanceof TLSSocket && showsPinnedKey(identity.tls, socket))) {
    socket.destroy();
    callback(new PinMismatchError(), null);
    return;
  }
  awaitFirstWord(socket, (error) => {
    if (error === null) ready();
    else callback(error, null);
  });
}
