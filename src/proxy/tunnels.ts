import type { Socket } from 'node:net';
import { onceForAll } from '../memory/shared-work.ts';
import type { HostLookup } from '../names/host-lookup.ts';
import { isDirect, type NoProxy } from './no-proxy.ts';
import { authorityOf, openTunnel } from './open-tunnel.ts';
import type { ProxyAddress } from './proxy-address.ts';
import { ProxyError, type ProxyReason } from './proxy-error.ts';
import { createProxyWatch, type Outage } from './proxy-watch.ts';

/** Tunnels through one forward proxy, for all that this process sends by it. */
export type Tunnels = ReturnType<typeof createTunnels>;

/** Settings of the tunnels, and what is called after a change. */
export interface TunnelsDeps {
  readonly proxy: ProxyAddress;
  readonly noProxy: NoProxy;
  /** Whether the proxy resolves names; see `Tunnels`. */
  readonly resolves: boolean;
  /** Finds the addresses of the proxy; no policy applies to them. */
  readonly lookup: HostLookup;
  /** Milliseconds for a tunnel. */
  readonly timeoutMs: number;
  readonly random: () => number;
  /** Trusted certificates (PEM) for a proxy over TLS, instead of those of the system. */
  readonly ca?: string;
  /** Called with each tunnel that was tried and not opened. */
  readonly onFailed?: (reason: ProxyReason) => void;
  /** Called when an outage begins, after each probe that fails, and, with null, when it is over. */
  readonly onOutage?: (outage: Outage | null) => void;
}

/** Whether the host of a URL goes through a proxy by these rules; false without a host, as in `mailto:`. */
export function isUrlTaken(noProxy: NoProxy, text: string): boolean {
  const url = URL.parse(text);
  if (url === null || url.hostname === '') return false;
  return !isDirect(noProxy, url.hostname, Number(url.port) || (url.protocol === 'https:' ? 443 : 80));
}

// Maximum number of addresses of a host that are tried, each in its part of the time.
const addressesMax = 4;
// Answers about an address, which are none about the others.
const aboutAddress: ReadonlySet<ProxyReason> = new Set(['no_connection', 'silent']);

/** Tunnels through a proxy that is taken to work until it does not. */
export function createTunnels(deps: TunnelsDeps) {
  const { noProxy, onFailed, onOutage, random, resolves, timeoutMs } = deps;
  const probe = async (authority: string | null) => {
    const tunnel = await openTunnel(deps, authority);
    if (tunnel instanceof ProxyError) return tunnel;
    tunnel.on('error', () => undefined).destroy();
    return null;
  };
  const watch = createProxyWatch({ random, onOutage, probe });

  async function reach(): Promise<ProxyError | null> {
    const error = await probe(null);
    return error === null ? null : watch.failed(null, error);
  }

  async function openFirst(
    [first = '', ...others]: readonly string[],
    leftMs: number,
  ): Promise<Socket | ProxyError> {
    const attemptMs = leftMs / (1 + others.length);
    const tunnel = await openTunnel({ ...deps, timeoutMs: attemptMs }, first);
    const isNext = tunnel instanceof ProxyError && aboutAddress.has(tunnel.reason) && others.length > 0;
    return isNext ? openFirst(others, leftMs - attemptMs) : tunnel;
  }

  return {
    /** Whether the proxy resolves names, so that it is asked for them instead of addresses. */
    resolves,
    /** Whether requests to this host and port go through the proxy (`NO_PROXY`). */
    takes: (hostname: string, port: number) => !isDirect(noProxy, hostname, port),
    /** The same for the host of a URL; false for a text that is none. */
    takesUrl: (url: string) => isUrlTaken(noProxy, url),
    /**
     * A socket to the first of `hosts` that the proxy connects to, paused. `hosts` are the vetted addresses
     * of an endpoint, or its name if the proxy resolves names; at least one. Rejects with ProxyError, without
     * trying while the proxy is down.
     */
    async open(port: number, hosts: readonly string[]): Promise<Socket> {
      const authorities = hosts.slice(0, addressesMax).map((host) => authorityOf(host, port));
      const [endpoint = ''] = authorities;
      const held = watch.enter(endpoint);
      if (held !== null) throw held;
      const tunnel = await openFirst(authorities, timeoutMs);
      if (tunnel instanceof ProxyError) {
        onFailed?.(tunnel.reason);
        throw watch.failed(endpoint, tunnel);
      }
      watch.opened();
      return tunnel;
    },
    /**
     * Null when the proxy can be connected to; asked after a tunnel broke, since its end may be the proxy's.
     * Simultaneous callers share one connection.
     */
    check: onceForAll(reach, 0),
    /** The outage of the proxy, during which it is only probed, or null if there is none. */
    outage: watch.outage,
    /** Ends the probes. Sockets stay with those that use them. */
    close: async () => watch.close(),
  };
}
