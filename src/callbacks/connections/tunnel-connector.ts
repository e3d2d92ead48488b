import { isIP } from 'node:net';
import type { Socket } from 'node:net';
import type { EgressPolicy } from '../../egress/address-policy.ts';
import { BlockedAddressError, lookupVetted } from '../../egress/vetted-lookup.ts';
import type { HostLookup } from '../../names/host-lookup.ts';
import { ProxyError } from '../../proxy/proxy-error.ts';
import type { Tunnels } from '../../proxy/tunnels.ts';
import { failureOf, type CallbackResult } from '../result.ts';

/** The rules by which hosts are vetted before the proxy hears of them. */
export interface VettingRules {
  readonly policy: EgressPolicy;
  readonly lookup: HostLookup;
  readonly owner?: string;
}

/**
 * A socket to a host through the proxy, by CONNECT for https and http alike: the proxy sees no bodies. The
 * proxy is asked for a vetted address and TLS for the host, so a name that changes its address meanwhile
 * leads nowhere else (ADR 25). With `resolves` of the tunnels it is asked for the name.
 */
export async function openTunnelTo(
  tunnels: Tunnels,
  rules: VettingRules,
  host: string,
  port: number,
): Promise<Socket> {
  return tunnels.open(host, port, await vetted(host, tunnels.resolves, rules));
}

// The hosts that the proxy is asked for. Where the proxy resolves names, this machine may have no name
// servers; a name that it can resolve is judged all the same.
async function vetted(host: string, resolves: boolean, rules: VettingRules): Promise<readonly string[]> {
  try {
    const addresses = await lookupVetted(host, rules);
    return resolves && isIP(host) === 0 ? [host] : addresses.map(({ address }) => address);
  } catch (error) {
    if (resolves && !(error instanceof BlockedAddressError)) return [host];
    throw error;
  }
}

/**
 * The result of a callback as it is to be understood where the proxy may be at fault for it. Without a
 * connection at the deadline it was the proxy that had none yet. A connection that broke before a response is
 * the proxy's failure if the proxy is gone: its end must not cost an attempt.
 */
export async function blameProxy(
  tunnels: Tunnels,
  url: string,
  result: CallbackResult,
): Promise<CallbackResult> {
  if (result.kind === 'response' || !tunnels.takesUrl(url)) return result;
  const { code, sent, durationMs } = result;
  const late = code === 'timeout' && !sent ? new ProxyError('silent') : null;
  const error = code === 'connection_reset' ? await tunnels.check() : late;
  return error === null ? result : { kind: 'failure', ...failureOf(error, false), durationMs };
}
