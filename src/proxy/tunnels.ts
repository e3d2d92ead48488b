import type { Socket } from 'node:net';
import type { HostLookup } from '../names/host-lookup.ts';
import { race } from '../names/race.ts';
import { authorityOf } from './connect-head.ts';
import { isDirect, type NoProxy } from './no-proxy.ts';
import { connectToProxy, openTunnel } from './open-tunnel.ts';
import type { ProxyAddress } from './proxy-address.ts';
import { ProxyError, type ProxyReason } from './proxy-error.ts';
import { createProxyWatch, type Outage } from './proxy-watch.ts';

/** Tunnels through one forward proxy, for all that this process sends by it. */
export interface Tunnels {
  /** Whether requests to this host and port go through the proxy (`NO_PROXY`). */
  takes(hostname: string, port: number): boolean;
  /** The same for the host of a URL; false for a text that is none. */
  takesUrl(url: string): boolean;
  /** Whether the proxy resolves names, so that it is asked for them instead of addresses. */
  readonly resolves: boolean;
  /**
   * A socket to the first of `hosts` that the proxy connects to, paused. `hosts` are the vetted addresses of
   * `hostname`, or its name where the proxy resolves names; at least one. Rejects with ProxyError, at once
   * while the proxy is down, or with the error of the system where this process is at fault.
   */
  open(hostname: string, port: number, hosts: readonly string[]): Promise<Socket>;
  /**
   * Null when the proxy can be connected to; asked after a tunnel broke, since its end may be the proxy's.
   * Simultaneous callers share one connection.
   */
  check(): Promise<ProxyError | null>;
  /** The outage of the proxy, in which nothing is sent to it but probes; null while there is none. */
  outage(): Outage | null;
  /** Ends the probes. Sockets stay with those that use them. */
  close(): Promise<void>;
}

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

/** Whether the host of a URL goes through a proxy by these rules; false for a text that is none. */
export function isUrlTaken(noProxy: NoProxy, text: string): boolean {
  const url = URL.parse(text);
  if (url === null) return false;
  return !isDirect(noProxy, url.hostname, Number(url.port) || (url.protocol === 'https:' ? 443 : 80));
}

// Maximum number of addresses of a host that are tried.
const addressesMax = 4;
// Milliseconds after which the proxy is asked for the next one, too.
const nextAfterMs = 1_000;

/** Tunnels through a proxy that is taken to work until it does not. */
export function createTunnels(deps: TunnelsDeps): Tunnels {
  const { noProxy, onFailed } = deps;
  const connect = (authority: string) => openTunnel(deps, authority);
  const watch = createProxyWatch({
    random: deps.random,
    onOutage: deps.onOutage,
    async probe(authority) {
      const socket = authority === null ? await connectToProxy(deps) : await connect(authority);
      socket.on('error', () => undefined).destroy();
    },
  });
  let checking: Promise<ProxyError | null> | null = null;

  async function reach(): Promise<ProxyError | null> {
    const held = watch.heldNow();
    if (held !== null) return held;
    try {
      (await connectToProxy(deps)).on('error', () => undefined).destroy();
      return null;
    } catch (error) {
      return error instanceof ProxyError ? watch.isGone(error) : null;
    }
  }

  // An answer about an address is no answer about the others; the proxy's own trouble is.
  const isFinal = (error: unknown) => !(error instanceof ProxyError && error.reason === 'no_connection');
  const openFirst = (authorities: readonly string[]) =>
    race(authorities.slice(0, addressesMax), connect, {
      nextAfterMs,
      timeoutMs: 2 * deps.timeoutMs,
      isFinal,
    });

  return {
    resolves: deps.resolves,
    takes: (hostname, port) => !isDirect(noProxy, hostname, port),
    takesUrl: (url) => isUrlTaken(noProxy, url),
    async open(hostname, port, hosts) {
      const authorities = hosts.map((host) => authorityOf(host, port));
      const target = { name: authorityOf(hostname, port), authority: authorities[0] ?? '' };
      const held = watch.enter(target);
      if (held !== null) throw held;
      try {
        const socket = await openFirst(authorities);
        watch.opened(target);
        return socket;
      } catch (error) {
        if (!(error instanceof ProxyError)) throw error;
        onFailed?.(error.reason);
        throw watch.failed(target, error);
      } finally {
        watch.leave();
      }
    },
    check: () => (checking ??= reach().finally(() => (checking = null))),
    outage: watch.outage,
    close() {
      watch.close();
      return Promise.resolve();
    },
  };
}
