import { isIP } from 'node:net';
import type { Socket } from 'node:net';
import { buildConnector } from 'undici';
import type { EgressPolicy } from '../egress/address-policy.ts';
import { BlockedAddressError, lookupVetted } from '../egress/vetted-lookup.ts';
import type { HostLookup } from '../names/host-lookup.ts';
import { lookupFunction } from '../names/lookup-function.ts';

/**
 * Rules of the connector. `owner` is the one whose lookups it makes, `ca` replaces the trusted certificates,
 * `onSocket` is called with each connected socket.
 */
export interface ConnectorDeps {
  readonly policy: EgressPolicy;
  readonly lookup: HostLookup;
  readonly owner?: string;
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
    lookup: lookupFunction((hostname) => lookupVetted(hostname, deps)),
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
