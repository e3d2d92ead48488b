/** The bounds of a window. */
export interface WindowRules {
  /** Number of callbacks in flight with which it begins. */
  readonly start: number;
  /** Maximum number of callbacks in flight. */
  readonly max: number;
}

/** The answer to a callback, or its absence, as evidence of what the endpoint takes. */
export interface Answer {
  /** `overloaded` is a 429 or 503, `timed_out` no answer in time. */
  readonly kind: 'accepted' | 'failed' | 'overloaded' | 'timed_out';
  /** Milliseconds on Redis's clock. */
  readonly startedAt: number;
  /** Milliseconds from sending to the end of the answer. */
  readonly latencyMs: number;
}

/** The reasons for and against more callbacks in flight. */
export interface Demand {
  /** Whether a callback had to wait for a place. */
  readonly limited: boolean;
  /** Whether this process itself has no time for more. */
  readonly busy: boolean;
}

/** The number of callbacks that one endpoint may have in flight, and the evidence for it. Never changed. */
export interface Window {
  readonly limit: number;
  /** The limit from which on it grows by one a round, because it fell from there before. */
  readonly threshold: number;
  /** Answers to callbacks sent before this time (ms) say nothing about the present limit. */
  readonly since: number;
  /** Milliseconds of the answers of the round under way. */
  readonly latencies: readonly number[];
  /** Whether a callback had to wait for a place during the round. */
  readonly limited: boolean;
  /**
   * Lowest latency of a round in this period and in the previous one, in milliseconds. Null if there is none.
   */
  readonly lowest: readonly [number | null, number | null];
  /** When the period began, in milliseconds on Redis's clock. */
  readonly periodAt: number;
  /** Whether a round is to be measured with few in flight. */
  readonly measuring: boolean;
}

// Maximum number of callbacks in flight without any evidence.
const startMax = 10;
// The share of the former limit that is left after a failure, and after a rise in latency.
const leftAfterFailure = 0.5;
const leftAfterRise = 0.75;
const growthOfRound = 1.5;
// A latency is near the lowest one up to this multiple of it, and up to these milliseconds more: the process
// itself takes that long to read the answers to all that it has in flight.
const nearFactor = 2;
const nearMs = 10;
// Milliseconds without an answer after which a callback hangs, at least, and as a multiple of the lowest
// latency.
const hangsMs = 1_000;
const hangsFactor = 3;
// The lowest latency, in milliseconds, from which on an endpoint gets more in flight from a busy process.
// Answers of a quicker one wait in the process itself, and all the more do so then.
const awayMs = 25;
// Milliseconds after which the lowest latency is measured anew.
const periodMs = 60_000;
// Milliseconds without an answer after which a window begins again: connections are not kept for longer.
const idleMs = 5_000;

/** The bounds for a maximum number of callbacks in flight; a maximum below ten is also the start. */
export function windowRules(max: number): WindowRules {
  return { start: Math.min(startMax, max), max };
}

/** The window of an endpoint of which nothing is known. */
export function newWindow({ start, max }: WindowRules, now: number): Window {
  return {
    limit: start,
    threshold: max,
    since: 0,
    latencies: [],
    limited: false,
    lowest: [null, null],
    periodAt: now,
    measuring: false,
  };
}

/**
 * The window at the beginning of a drain; `answeredAt` is when the endpoint answered last, in milliseconds.
 */
export function windowAfterRest(window: Window, answeredAt: number, now: number, rules: WindowRules): Window {
  const { limit } = window;
  const rested = now - answeredAt > idleMs;
  return rested && limit > rules.start
    ? { ...window, limit: rules.start, latencies: [], since: now }
    : window;
}

/**
 * The window after answers. It falls at once after a failure, and at the end of a round if most of the
 * answers were slow; failures of callbacks sent before a fall do not cause another. A round is as many
 * answers as callbacks may be in flight. The window grows after a round of quick answers if callbacks had to
 * wait for it: by half until it has fallen once, then by one. It stays if they would only wait for this
 * process instead.
 */
export function windowAfter(
  former: Window,
  answers: readonly Answer[],
  { limited, busy }: Demand,
  now: number,
  rules: WindowRules,
): Window {
  let window = periodOf(limited ? { ...former, limited } : former, now, rules);
  const latencies: number[] = [...window.latencies];
  for (const { kind, startedAt, latencyMs } of answers) {
    if (startedAt < window.since) continue;
    if (kind === 'accepted') latencies.push(latencyMs);
    else {
      window = fallen(window, kind, now, rules);
      latencies.length = 0;
    }
  }
  window = { ...window, latencies };
  return latencies.length >= limitOf(window, rules) ? afterRound(window, busy, now, rules) : window;
}

/**
 * Maximum number of callbacks in flight now. As long as one of them hangs, that is no more than at the start;
 * `oldestAt` is when the oldest in flight was sent, in milliseconds, null when there is none.
 */
export function limitAt(window: Window, oldestAt: number | null, now: number, rules: WindowRules): number {
  const limit = limitOf(window, rules);
  if (oldestAt === null || limit <= rules.start) return limit;
  const hangs = now - oldestAt > Math.max(hangsMs, hangsFactor * (lowestOf(window) ?? 0));
  return hangs ? rules.start : limit;
}

function limitOf({ limit, measuring }: Window, { start }: WindowRules): number {
  return measuring ? Math.min(limit, start) : limit;
}

function lowestOf({ lowest: [present, former] }: Window): number | null {
  if (present === null || former === null) return present ?? former;
  return Math.min(present, former);
}

// The lowest latency of long ago says nothing about the endpoint as it is now. With many in flight it cannot
// be measured, because they may themselves be the reason for a higher one.
function periodOf(window: Window, now: number, { start }: WindowRules): Window {
  const { periodAt, lowest, limit } = window;
  if (now >= periodAt && now - periodAt < periodMs) return window;
  const begun = { ...window, periodAt: now, lowest: [null, lowest[0]] as const };
  return limit > start ? { ...begun, measuring: true, latencies: [], since: now } : begun;
}

function fallen(window: Window, kind: Answer['kind'], now: number, { start }: WindowRules): Window {
  const { limit } = window;
  const half = Math.floor(Math.min(limit, kind === 'overloaded' ? start : limit) * leftAfterFailure);
  const left = kind === 'overloaded' ? Math.max(1, half) : Math.max(start, kind === 'timed_out' ? 0 : half);
  const next = Math.min(limit, left);
  return { ...window, limit: next, threshold: next, since: now, limited: false, measuring: false };
}

function afterRound(window: Window, busy: boolean, now: number, { start, max }: WindowRules): Window {
  const { latencies, lowest, limit, threshold, limited, measuring } = window;
  const latencyMs = medianOf(latencies);
  const next: Window = {
    ...window,
    latencies: [],
    limited: false,
    measuring: false,
    lowest: [Math.min(latencyMs, lowest[0] ?? Infinity), lowest[1]],
  };
  if (measuring) return next;
  const usualMs = lowestOf(next) ?? latencyMs;
  if (limit >= start && latencyMs > Math.max(nearFactor * usualMs, usualMs + nearMs)) {
    const left = Math.max(start, Math.floor(limit * leftAfterRise));
    return left < limit ? { ...next, limit: left, threshold: left, since: now } : next;
  }
  if (!limited || (busy && usualMs < awayMs)) return next;
  const grown = limit < threshold ? Math.min(Math.ceil(limit * growthOfRound), threshold) : limit + 1;
  return { ...next, limit: Math.min(grown, max) };
}

function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}
