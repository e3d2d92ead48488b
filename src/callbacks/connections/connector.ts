// oxlint-disable promise/no-callback-in-promise -- Connectors of undici take a callback.
import { isIP, type Socket } from 'node:net';
import { createSecureContext, TLSSocket, type SecureContext } from 'node:tls';
import { buildConnector } from 'undici';
import type { EgressPolicy } from '../../egress/address-policy.ts';
import { BlockedAddressError, lookupVetted } from '../../egress/vetted-lookup.ts';
import { createBoundedMap } from '../../memory/bounded-map.ts';
import { attemptOptions, limitTickets, lookupFunction } from '../../names/dialling.ts';
import type { HostLookup } from '../../names/host-lookup.ts';
import type { Tunnels } from '../../proxy/tunnels.ts';
import { openContext, type ConnectionIdentity } from '../../subscriptions/options/tls.ts';

/** Rules of the connector. `ca` replaces the trusted certificates. */
export interface ConnectorDeps {
  readonly policy: EgressPolicy;
  readonly lookup: HostLookup;
  readonly timeoutMs: number;
  readonly ca?: string;
  /** Tunnels through the forward proxy, for the hosts that it takes; without them all is dialled directly. */
  readonly tunnels?: Tunnels | undefined;
}

/** The request for which a connection is opened. */
export interface Opening {
  /** The account whose lookups these are. */
  readonly account: string;
  /** The identity of the connection; undefined for that of all plain https endpoints. */
  readonly identity?: ConnectionIdentity | undefined;
  /** Gets the addresses that are tried. */
  readonly dialled: string[];
}

/** A connector of undici for the connection of a request. */
export type CallbackConnector = (
  options: buildConnector.Options,
  opening: Opening,
  callback: buildConnector.Callback,
) => void;

// Maximum number of identities whose contexts are kept, 40 to 200 KB each; the others cost a millisecond or
// two with each new connection.
const identitiesMax = 1_000;

/**
 * Opens connections to permitted addresses only, for http and https alike. A host name is refused if any of
 * its addresses is refused. The dialled address is checked again. Hosts that `tunnels` takes are checked
 * before the proxy hears of them, and reached through it by CONNECT. TLS asks for and verifies the host name.
 * If OpenSSL rejects the identity, each connection fails with its error.
 */
export function createCallbackConnector(deps: ConnectorDeps): CallbackConnector {
  const { policy, timeoutMs, tunnels } = deps;
  const contextOf = createContexts(deps.ca);
  return (options, opening, callback) => {
    const isTls = options.protocol === 'https:';
    const port = Number(options.port) || (isTls ? 443 : 80);
    const host = options.hostname.replace(/^\[(.*)\]$/, '$1');
    const fail = (error: unknown) =>
      callback(error instanceof Error ? error : new Error(String(error)), null);
    const vet = async (name: string) => {
      const owner = `callbacks ${opening.account}`;
      const addresses = await lookupVetted(name, { ...deps, owner });
      opening.dialled.push(...addresses.map(({ address }) => address));
      return addresses;
    };
    const connect = (httpSocket?: Socket): void => {
      const dial = buildConnector({
        allowH2: false,
        maxCachedSessions: 0,
        timeout: timeoutMs,
        ...attemptOptions(timeoutMs),
        lookup: lookupFunction(vet),
        ...(isTls && { secureContext: contextOf(opening.identity), rejectUnauthorized: true }),
      });
      dial({ ...options, ...(httpSocket && { httpSocket }) }, (...opened) => {
        const [error, socket] = opened;
        const address = httpSocket === undefined ? socket?.remoteAddress : undefined;
        if (error !== null) callback(error, null);
        else if (address === undefined || policy.isAllowed(address)) admit(opening, socket, callback);
        else {
          socket.destroy();
          callback(new BlockedAddressError(), null);
        }
      });
    };
    const begin = async (): Promise<void> => {
      if (tunnels?.takes(host, port) === true) {
        const socket = await tunnels.open(port, await hostsFor(host, tunnels.resolves, vet));
        if (isTls) connect(socket);
        else callback(null, socket);
        return;
      }
      // No lookup is made for an address.
      if (isIP(host) !== 0) await vet(host);
      connect();
    };
    begin().catch(fail);
  };
}

/**
 * The hosts that the proxy is asked for: vetted addresses, so that a name whose address changes in between
 * leads nowhere else (ADR 25). If the proxy resolves names, this machine may have no name servers; a name
 * that it can resolve is still checked.
 */
async function hostsFor(
  host: string,
  resolves: boolean,
  vet: (name: string) => Promise<readonly { readonly address: string }[]>,
): Promise<readonly string[]> {
  try {
    const addresses = await vet(host);
    return resolves && isIP(host) === 0 ? [host] : addresses.map(({ address }) => address);
  } catch (error) {
    if (resolves && !(error instanceof BlockedAddressError)) return [host];
    throw error;
  }
}

/** The contexts of TLS: one for all connections without an identity, since each takes 30 KB. */
function createContexts(ca: string | undefined): (identity?: ConnectionIdentity) => SecureContext {
  const contexts = createBoundedMap<string, SecureContext>(identitiesMax);
  let plain: SecureContext | undefined;
  return (identity) => {
    if (identity === undefined) return (plain ??= createSecureContext(ca === undefined ? {} : { ca }));
    const { digest, tls } = identity;
    const known = contexts.get(digest);
    const context = known ?? openContext(tls.ca === null && ca !== undefined ? { ...tls, ca } : tls);
    if (known === undefined) contexts.set(digest, context);
    return context;
  };
}

function admit({ identity }: Opening, socket: Socket, callback: buildConnector.Callback): void {
  if (socket instanceof TLSSocket) limitTickets(socket);
  if (identity === undefined || !(socket instanceof TLSSocket)) callback(null, socket);
  else
    awaitFirstWord(socket, (error) => {
      if (error === null) callback(null, socket);
      else callback(error, null);
    });
}

// Milliseconds after which an endpoint that says nothing after its handshake counts as content with it.
const silenceMs = 250;

/**
 * Calls back once the endpoint has accepted the client's certificate, or with the error by which it has not.
 * In TLS 1.3 the client's handshake ends before the endpoint has seen the certificate. A request that is
 * written at once crosses the refusal, and the connection is reset before its alert is read. The first word
 * of an endpoint that accepts it is a session ticket (RFC 8446 §4.6.1); those without tickets are given a
 * moment.
 */
function awaitFirstWord(socket: TLSSocket, done: (error: Error | null) => void): void {
  if (socket.getProtocol() !== 'TLSv1.3' || socket.isSessionReused()) {
    done(null);
    return;
  }
  // Not within the event: OpenSSL is reading, and what is written then gets lost.
  const accepted = () => void setImmediate(settle, null);
  const closed = () => settle(new ClosedError());
  let isOver = false;
  const silence = setTimeout(accepted, silenceMs);
  function settle(error: Error | null): void {
    clearTimeout(silence);
    socket.off('session', accepted).off('error', settle).off('close', closed);
    if (isOver) return;
    isOver = true;
    done(error);
  }
  socket.once('session', accepted).once('error', settle).once('close', closed);
}

/** The endpoint closed the connection right after the handshake, without an alert. */
class ClosedError extends Error {
  readonly code = 'ERR_TLS_CLOSED';

  constructor() {
    super('closed after the handshake');
  }
}
