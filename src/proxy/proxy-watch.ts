import { createBoundedMap } from '../memory/bounded-map.ts';
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
 * failure before the answer to CONNECT is the proxy's own trouble, and begins an outage. An answer about an
 * endpoint is that endpoint's failure, unless the proxy gives it for one endpoint after the other and
 * connects to none.
 */
export interface ProxyWatch {
  /** Null when a tunnel may be tried now, and then `leave` is called after it; else why it has to wait. */
  enter(target: Target): ProxyError | null;
  leave(): void;
  /** Why everything has to wait now; null in no outage. */
  heldNow(): ProxyError | null;
  /** A tunnel was opened: the proxy works. */
  opened(target: Target): void;
  /** The error as it is to be understood. */
  failed(target: Target, error: ProxyError): ProxyError;
  /** The proxy itself could not be reached; the error as it is to be understood. */
  isGone(error: ProxyError): ProxyError;
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
// Number of endpoints that the proxy refuses in a row, and connects to none between, from which on it is
// doubted.
const doubtedFrom = 3;
// Maximum number of tunnels that are tried at once while the proxy is doubted, those to endpoints left out
// that had one last time.
const triedInDoubtMax = 16;
// Milliseconds for which an endpoint waits while the proxy is doubted: as long as it has been so, within
// these bounds.
const doubtWaitMinMs = 5_000;
const doubtWaitMsMax = 5 * 60_000;
// Milliseconds for which a request waits that met an outage; what comes after it is not begun.
const outageWaitMs = 1_000;
// Maximum number of endpoints that probes ask for in turn, and of those that are known to fail alone.
const probedMax = 32;
const aloneMax = 1_000;
// Maximum number of endpoints of which it is remembered that the last tunnel was opened.
const workedMax = 20_000;

// Answers about the proxy itself which some proxies give about one endpoint only, such as 407 for a host that
// no user may reach.
const maybeAlone: ReadonlySet<ProxyReason> = new Set(['credentials', 'malformed', 'too_large']);
// Failures in which the proxy has answered, so it works by itself.
const answered: ReadonlySet<ProxyReason> = new Set(['refused', 'no_connection']);

interface Down {
  readonly error: ProxyError;
  readonly since: number;
  /** The endpoints that met it, in the order in which probes ask for them. */
  readonly targets: Map<string, Target>;
  probes: number;
  timer: NodeJS.Timeout | undefined;
}

/** A watch of a proxy that has not failed yet. */
export function createProxyWatch({ random, probe, onOutage }: ProxyWatchDeps): ProxyWatch {
  const refusedInARow = new Set<string>();
  const alone = createBoundedMap<string, true>(aloneMax);
  const worked = createBoundedMap<string, true>(workedMax);
  let doubtedSince = 0;
  let trying = 0;
  let down: Down | null = null;
  let isClosed = false;

  const isDoubted = () => refusedInARow.size >= doubtedFrom;
  const now = () => performance.now();

  function doubt(): ProxyError {
    const waitMs = Math.min(doubtWaitMsMax, Math.max(doubtWaitMinMs, now() - doubtedSince));
    return new ProxyError('doubted', { retryAfterMs: jitter(waitMs, probeSpread, random) });
  }

  function wait(error: ProxyError): ProxyError {
    const { reason, status } = error;
    return new ProxyError(reason, { status, retryAfterMs: jitter(outageWaitMs, { more: 1 }, random) });
  }

  function outage(): Outage | null {
    if (down === null) return null;
    const { error, since } = down;
    return { reason: error.reason, detail: error.message, lastsMs: now() - since };
  }

  function worksAgain(): void {
    refusedInARow.clear();
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
    if (target !== null && down.targets.size < probedMax) down.targets.set(target.name, target);
    return wait(error);
  }

  function scheduleProbe(one: Down): void {
    if (isClosed) return;
    const waitMs = Math.min(probeMsMax, firstProbeMs * 2 ** Math.min(one.probes, 10));
    one.timer = setTimeout(() => void tryAgain(one), jitter(waitMs, probeSpread, random)).unref();
  }

  // One probe at a time. Each asks for another endpoint, since one alone may be what the proxy does not take.
  async function tryAgain(one: Down): Promise<void> {
    const [target = null] = one.targets.values();
    if (target !== null) {
      one.targets.delete(target.name);
      one.targets.set(target.name, target);
    }
    one.probes += 1;
    const failure = await probe(target?.authority ?? null).then(
      () => null,
      (error: unknown) => error,
    );
    if (down !== one) return;
    if (failure === null) return target === null ? worksAgain() : opened(target);
    if (failure instanceof ProxyError && answered.has(failure.reason)) return worksAgain();
    onOutage?.(outage());
    scheduleProbe(one);
  }

  function opened(target: Target): void {
    alone.delete(target.name);
    worked.set(target.name, true);
    if (down !== null && maybeAlone.has(down.error.reason))
      for (const name of down.targets.keys()) if (name !== target.name) alone.set(name, true);
    worksAgain();
  }

  return {
    enter({ name }) {
      if (down !== null) return wait(down.error);
      if (isDoubted() && trying >= triedInDoubtMax && worked.get(name) !== true) return doubt();
      trying += 1;
      return null;
    },
    heldNow: () => (down === null ? null : wait(down.error)),
    leave() {
      trying -= 1;
    },
    opened,
    failed(target, error) {
      worked.delete(target.name);
      if (error.fault === 'proxy') {
        if (maybeAlone.has(error.reason) && alone.get(target.name) === true)
          return new ProxyError('refused', { status: error.status });
        return goDown(target, error);
      }
      const wasDoubted = isDoubted();
      if (!wasDoubted) refusedInARow.add(target.name);
      if (!isDoubted()) return error;
      if (!wasDoubted) doubtedSince = now();
      return doubt();
    },
    isGone: (error) => goDown(null, error),
    outage,
    close() {
      isClosed = true;
      clearTimeout(down?.timer);
    },
  };
}
