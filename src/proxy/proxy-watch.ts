import { jitter } from '../waiting/jitter.ts';
import { ProxyError, type ProxyReason } from './proxy-error.ts';

/** A time in which the proxy does not work for any endpoint. */
export interface Outage {
  readonly reason: ProxyReason;
  /** One sentence. */
  readonly detail: string;
  /** Milliseconds since it began. */
  readonly lastsMs: number;
}

export interface ProxyWatchDeps {
  readonly random: () => number;
  /**
   * Asks for a tunnel and lets go of it, or with null only connects to the proxy; resolves to the error, null
   * for none.
   */
  readonly probe: (authority: string | null) => Promise<ProxyError | null>;
  readonly onOutage?: ((outage: Outage | null) => void) | undefined;
}

// Milliseconds before the first probe of a proxy that is down; each failed one doubles them, up to the
// maximum.
const firstProbeMs = 1_000;
const probeMsMax = 5_000;
// Milliseconds for which a request waits that met an outage, and one that met trouble which may concern its
// endpoint alone.
const outageWaitMs = 1_000;
const troubleWaitMs = 5_000;
// Number of endpoints that meet such trouble from which on it is an outage.
const endpointsMin = 3;

// Failures without a connection to the proxy: they are about no endpoint.
const unconnected: ReadonlySet<ProxyReason> = new Set(['unreachable', 'unknown_name', 'tls']);
// Failures in which the proxy has answered, so it works by itself.
const answered: ReadonlySet<ProxyReason> = new Set(['refused', 'no_connection']);

interface Down {
  readonly error: ProxyError;
  readonly since: number;
  /** The endpoint that met it last, for the next probe: one alone may be what the proxy does not take. */
  authority: string | null;
  waitMs: number;
  timer?: NodeJS.Timeout;
}

/**
 * Judges whether the proxy is down, and finds out when it is back; it has not failed yet. Endpoints are named
 * by the authority ("host:port") that the proxy is asked for.
 */
export function createProxyWatch({ random, probe, onOutage }: ProxyWatchDeps) {
  const troubled = new Set<string>();
  let down: Down | null = null;
  let isClosed = false;

  function outage(): Outage | null {
    if (down === null) return null;
    const { error, since } = down;
    return { reason: error.reason, detail: error.message, lastsMs: performance.now() - since };
  }

  function wait({ reason, status }: ProxyError, ms: number): ProxyError {
    return new ProxyError(reason, status, jitter(ms, { more: 1 }, random));
  }

  function opened(): void {
    troubled.clear();
    if (down === null) return;
    clearTimeout(down.timer);
    down = null;
    onOutage?.(null);
  }

  function goDown(authority: string | null, error: ProxyError): ProxyError {
    if (down === null) {
      down = { error, since: performance.now(), authority, waitMs: firstProbeMs };
      scheduleProbe(down);
      onOutage?.(outage());
    }
    down.authority = authority ?? down.authority;
    return wait(error, outageWaitMs);
  }

  function scheduleProbe(one: Down): void {
    if (isClosed) return;
    one.timer = setTimeout(() => void tryAgain(one), jitter(one.waitMs, { less: 0.2 }, random)).unref();
    one.waitMs = Math.min(probeMsMax, one.waitMs * 2);
  }

  async function tryAgain(one: Down): Promise<void> {
    const error = await probe(one.authority);
    if (down !== one) return;
    if (error === null || answered.has(error.reason)) return opened();
    onOutage?.(outage());
    scheduleProbe(one);
  }

  return {
    /** Null when a tunnel may be tried now; else why it has to wait. */
    enter: (authority: string) => (down === null ? null : goDown(authority, down.error)),
    /** A tunnel was opened: the proxy works. */
    opened,
    /** The error as it is to be understood; `authority` is null for the proxy itself. */
    failed(authority: string | null, error: ProxyError): ProxyError {
      if (error.fault === 'endpoint') return error;
      if (authority === null || unconnected.has(error.reason)) return goDown(authority, error);
      troubled.add(authority);
      return troubled.size < endpointsMin ? wait(error, troubleWaitMs) : goDown(authority, error);
    },
    /** The outage for which everything waits, or null if there is none. */
    outage,
    /** Ends the probes. */
    close(): void {
      isClosed = true;
      clearTimeout(down?.timer);
    },
  };
}
