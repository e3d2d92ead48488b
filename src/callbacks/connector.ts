import { isIP } from 'node:net';
import type { LookupFunction, Socket } from 'node:net';
import { callbackify } from 'node:util';
import { buildConnector } from 'undici';
import type { EgressPolicy } from '../egress/address-policy.ts';
import { BlockedAddressError, lookupVetted } from '../egress/host-lookup.ts';
import type { HostLookup } from '../egress/host-lookup.ts';

/**
 * What the connector needs; `ca` replaces the trusted certificates, `onSocket` sees every socket once it is
 * connected.
 */
export interface ConnectorDeps {
  readonly policy: EgressPolicy;
  readonly lookup: HostLookup;
  readonly timeoutMs: number;
  readonly ca?: string;
  readonly onSocket: (socket: Socket) => void;
}

/**
 * Opens connections to permitted addresses only, for http and https alike. Host names go through a lookup
 * that refuses the host if any address is refused; address literals never reach a lookup hook, so they are
 * judged first; the address really dialled is judged once more. The name stays the one that TLS asks for and
 * verifies.
 */
export function createCallbackConnector(deps: ConnectorDeps): buildConnector.connector {
  const connect = buildConnector({
    allowH2: false,
    timeout: deps.timeoutMs,
    lookup: vettedLookup(deps),
    ...(deps.ca === undefined ? {} : { ca: deps.ca }),
  });
  return (options, callback) => {
    if (isIP(options.hostname) !== 0 && !deps.policy.isAllowed(options.hostname)) {
      queueMicrotask(() => callback(new BlockedAddressError(), null));
      return;
    }
    connect(options, (error, socket) => {
      if (error !== null) callback(error, null);
      else admit(deps, socket, callback);
    });
  };
}

function admit(deps: ConnectorDeps, socket: Socket, callback: buildConnector.Callback): void {
  const address = socket.remoteAddress;
  // Without an address the peer is gone already, and what is sent goes nowhere.
  if (address !== undefined && !deps.policy.isAllowed(address)) {
    socket.destroy();
    callback(new BlockedAddressError(), null);
    return;
  }
  deps.onSocket(socket);
  callback(null, socket);
}

function vettedLookup(deps: ConnectorDeps): LookupFunction {
  const vetted = callbackify((hostname: string) => lookupVetted(hostname, deps));
  return (hostname, options, callback) =>
    vetted(hostname, (error, addresses) => {
      const [first] = addresses ?? [];
      if (first === undefined) callback(error, '');
      else if (options.all === true) callback(null, [...addresses]);
      else callback(null, first.address, first.family);
    });
}
