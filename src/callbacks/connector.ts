import { isIP } from 'node:net';
import type { LookupFunction, Socket } from 'node:net';
import { callbackify } from 'node:util';
import { buildConnector } from 'undici';
import type { EgressPolicy } from '../egress/address-policy.ts';
import { BlockedAddressError, lookupVetted } from '../egress/host-lookup.ts';
import type { HostLookup } from '../egress/host-lookup.ts';

/**
 * Rules of the connector. `ca` replaces the trusted certificates, `onSocket` is called with each connected
 * socket.
 */
export interface ConnectorDeps {
  readonly policy: EgressPolicy;
  readonly lookup: HostLookup;
  readonly timeoutMs: number;
  readonly ca?: string;
  readonly onSocket: (socket: Socket) => void;
}

/**
 * Opens connections to permitted addresses only, for http and https alike. A host name is refused if any of
 * its addresses is refused. Address literals never reach a lookup hook and are judged before it. The dialled
 * address is judged once more. TLS asks for and verifies the host name.
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
  // A socket without an address has lost its peer: nothing sent on it arrives.
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
