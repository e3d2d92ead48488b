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

/** An endpoint as tunnels name it. */
interface Target {
  /** Host and port as the request has them. */
  readonly name: string;
  /** Host and port that the proxy is asked for. */
  readonly authority: string;
}

/**
 * Judges whether the proxy or an endpoint is at fault, and finds out when a proxy that is down is back. A
 * proxy that cannot be connected to begins an outage. An answer about an endpoint is that endpoint's failure,
 * unless the proxy gives it for one endpoint after the other and connects to none.
 */
export interface ProxyWatch {
  /** Null when a tunnel may be tried now; else why it has to wait. */
  enter(target: Target): ProxyError | null;
  /** A tunnel was opened: the proxy works. */
  opened(): void;
  /** The error as it is to be understood; `target` is null for the proxy itself. */
  failed(target: Target | null, error: ProxyError): ProxyError;
  /** The outage in which everything waits; null while there is none. */
  outage(): Outage | null;
  /** Ends the probes. */
  close(): void;
}

export interface ProxyWatchDeps {
  readonly random: () => number;
  /**
   * Asks for a tunnel and lets go of it, or with null only connects to the proxy; rejects with ProxyError
   * where that fails.
   */
  readonly probe: (authority: string | null) => Promise<void>;
  readonly onOutage?: ((outage: Outage | null) => void) | undefined;
}

// Milliseconds before the first probe of a proxy that is down; each failed one doubles them, up to the
// maximum.
const firstProbeMs = 1_000;
const probeMsMax = 5_000;
const probeSpread = { less: 0.2 };
// Number of endpoints in a row for which there is no tunnel from which on the proxy is doubted.
const doubtedFrom = 3;
// Milliseconds for which an endpoint waits while the proxy is doubted: as long as it has been so, within
// these bounds.
const doubtWaitMsMin = 5_000;
const doubtWaitMsMax = 5 * 60_000;
// Milliseconds for which a request waits that met an outage; what comes after it is not begun.
const outageWaitMs = 1_000;
// Maximum number of endpoints that probes ask for in turn.
const probedMax = 32;

// Failures without a connection to the proxy: they are about no endpoint.
const noProxy: ReadonlySet<ProxyReason> = new Set(['unreachable', 'unknown_name', 'tls']);
// Failures in which the proxy has answered, so it works by itself.
const answered: ReadonlySet<ProxyReason> = new Set(['refused', 'no_connection']);

interface Down {
  readonly error: ProxyError;
  readonly since: number;
  /** The endpoints that met it, in the order in which probes ask for them. */
  readonly targets: Map<string, string>;
  probes: number;
  timer: NodeJS.Timeout | undefined;
}

/** A watch of a proxy that has not failed yet. */
export function createProxyWatch({ random, probe, onOutage }: ProxyWatchDeps): ProxyWatch {
  // Endpoints without a tunnel since one was opened, and since when they are enough for a doubt.
  const missed = new Set<string>();
  let doubtedSince = 0;
  let down: Down | null = null;
  let isClosed = false;
  const now = () => performance.now();

  function outage(): Outage | null {
    if (down === null) return null;
    return { reason: down.error.reason, detail: down.error.message, lastsMs: now() - down.since };
  }

  function wait({ reason, status }: ProxyError, ms: number): ProxyError {
    return new ProxyError(reason, { status, retryAfterMs: jitter(ms, { more: 1 }, random) });
  }

  function worksAgain(): void {
    missed.clear();
    if (down === null) return;
    clearTimeout(down.timer);
    down = null;
    onOutage?.(null);
  }

  function goDown(target: Target | null, error: ProxyError): ProxyError {
    if (down === null) {
      down = { error, since: now(), targets: new Map(), probes: 0, timer: undefined };
      scheduleProbe(down);
      onOutage?.(outage());
    }
    remember(down, target);
    return wait(error, outageWaitMs);
  }

  function remember({ targets }: Down, target: Target | null): void {
    if (target !== null && targets.size < probedMax) targets.set(target.name, target.authority);
  }

  function scheduleProbe(one: Down): void {
    if (isClosed) return;
    const waitMs = Math.min(probeMsMax, firstProbeMs * 2 ** Math.min(one.probes, 10));
    one.timer = setTimeout(() => void tryAgain(one), jitter(waitMs, probeSpread, random)).unref();
  }

  // One probe at a time. Each asks for another endpoint, since one alone may be what the proxy does not take.
  async function tryAgain(one: Down): Promise<void> {
    const [[name, authority] = ['', null]] = one.targets;
    if (authority !== null) {
      one.targets.delete(name);
      one.targets.set(name, authority);
    }
    one.probes += 1;
    try {
      await probe(authority);
    } catch (error) {
      if (down !== one) return;
      if (!(error instanceof ProxyError && answered.has(error.reason))) {
        onOutage?.(outage());
        return scheduleProbe(one);
      }
    }
    if (down === one) worksAgain();
  }

  return {
    enter(target) {
      if (down === null) return null;
      remember(down, target);
      return wait(down.error, outageWaitMs);
    },
    opened: worksAgain,
    failed(target, error) {
      if (target === null || noProxy.has(error.reason)) return goDown(target, error);
      if (missed.size < doubtedFrom) {
        missed.add(target.name);
        doubtedSince = now();
      }
      const isDoubted = missed.size >= doubtedFrom;
      if (error.fault === 'proxy') return isDoubted ? goDown(target, error) : wait(error, doubtWaitMsMin);
      if (!isDoubted) return error;
      const waitMs = Math.min(doubtWaitMsMax, Math.max(doubtWaitMsMin, now() - doubtedSince));
      return wait(new ProxyError('doubted'), waitMs);
    },
    outage,
    close() {
      isClosed = true;
      clearTimeout(down?.timer);
    },
  };
}
