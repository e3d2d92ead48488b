import { createBoundedMap } from '../../memory/bounded-map.ts';
import { Rate } from './rate.ts';
import {
  limitAt,
  newWindow,
  windowAfter,
  windowAfterRest,
  windowRules,
  type Answer,
  type Window,
  type WindowRules,
} from './window.ts';

/** The settings of a subscription that limit it. */
export interface Limits {
  readonly url: string;
  /** Null or missing means the daemon's maximum, which bounds it in any case. */
  readonly maxInFlight?: number | null;
  /** Attempts a second; null or missing = any number. */
  readonly rate?: number | null;
}

interface Known {
  readonly url: string;
  readonly max: number;
  readonly window: Window;
  readonly answeredAt: number;
}

// Maximum number of subscriptions whose windows are known.
const knownMax = 20_000;
// Maximum number of callbacks in flight in a process beyond the first ten of each subscription.
const beyondMax = 2_000;
const placesOfAnswer = 2;

/** The part that all limiters of a process share, in its memory only. No window is known at first. */
export class SharedLimits {
  /** Maximum number of callbacks in flight per subscription. */
  readonly maxInFlight: number;
  /** Whether this process has no time for more in flight. */
  readonly isBusy: () => boolean;
  readonly known = createBoundedMap<string, Known>(knownMax);
  /** Number of callbacks in flight beyond the first ten of each subscription. */
  beyond = 0;

  constructor(maxInFlight: number, isBusy: () => boolean) {
    this.maxInFlight = maxInFlight;
    this.isBusy = isBusy;
  }
}

/**
 * How much at once and how fast callbacks go to one subscription: its window, `maxInFlight` and rate. Each
 * callback in flight beyond the first ten needs an answer: two come with each 2xx of the last answers, and
 * are gone with the next ones. Times are milliseconds on Redis's clock.
 */
export class Limiter {
  readonly rate: Rate;
  readonly #shared: SharedLimits;
  readonly #key: string;
  // The filings in flight, the oldest first, and when each was started.
  readonly #inFlight = new Map<string, number>();
  #url: string;
  #rules: WindowRules;
  #window: Window;
  // Whether a callback had to wait for a place since the last answers.
  #isLimited = false;
  // Numbers of places beyond the first ten: that the last answers allow, and that are taken.
  #paid = 0;
  #beyond = 0;

  /** Continues from the previous limiter; its rate continues by the stored `throttledUntil`. */
  constructor(shared: SharedLimits, key: string, throttledUntil: number, now: number) {
    const { url = '', max = shared.maxInFlight, window, answeredAt = now } = shared.known.get(key) ?? {};
    this.#shared = shared;
    this.#key = key;
    this.#url = url;
    this.#rules = windowRules(max);
    this.#window = windowAfterRest(window ?? newWindow(this.#rules, now), answeredAt, now, this.#rules);
    this.rate = new Rate(throttledUntil);
  }

  /** Takes up changed settings; nothing is known of another endpoint than before. */
  follow({ url, maxInFlight, rate = null }: Limits, now: number): void {
    this.rate.follow(rate);
    const bound = this.#shared.maxInFlight;
    const max = Math.min(maxInFlight ?? bound, bound);
    const isSame = max === this.#rules.max;
    if (isSame && url === this.#url) return;
    this.#rules = windowRules(max);
    if (!isSame || this.#url !== '') this.#window = newWindow(this.#rules, now);
    this.#url = url;
  }

  /** Maximum number in flight as far as the endpoint's answers so far allow. */
  limit(): number {
    return this.#window.limit;
  }

  /** Number of callbacks in flight. */
  inFlight(): number {
    return this.#inFlight.size;
  }

  /** Whether an event of the filing is in flight. */
  isBusy(filingId: string): boolean {
    return this.#inFlight.has(filingId);
  }

  /** Whether another callback may be in flight beside the present ones, whatever the rate. */
  isFree(now: number): boolean {
    const inFlight = this.#inFlight.size;
    const [oldestAt = null] = this.#inFlight.values();
    const limit = limitAt(this.#window, oldestAt, now, this.#rules);
    if (inFlight < Math.min(limit, this.#rules.start)) return true;
    this.#isLimited = true;
    return inFlight < limit && this.#paid > 0 && this.#shared.beyond < beyondMax;
  }

  /** An event of the filing was sent. */
  started(filingId: string, now: number): void {
    if (this.#inFlight.size >= this.#rules.start) {
      this.#paid -= 1;
      this.#takeBeyond(1);
    }
    this.#inFlight.set(filingId, now);
    this.rate.started(now);
  }

  /** The result of the filing's event is written. */
  ended(filingId: string): void {
    if (this.#inFlight.size > this.#rules.start && this.#beyond > 0) this.#takeBeyond(-1);
    this.#inFlight.delete(filingId);
  }

  /** Takes note of answers that arrived together. */
  answered(answers: readonly Answer[], now: number): void {
    if (answers.length === 0) return;
    const demand = { limited: this.#isLimited, busy: this.#shared.isBusy() };
    const window = windowAfter(this.#window, answers, demand, now, this.#rules);
    this.#window = window;
    this.#paid = placesOfAnswer * answers.filter(({ kind }) => kind === 'accepted').length;
    this.#isLimited = false;
    this.#shared.known.set(this.#key, { url: this.#url, max: this.#rules.max, window, answeredAt: now });
  }

  /** Gives back all places that are still taken. */
  close(): void {
    this.#takeBeyond(-this.#beyond);
  }

  #takeBeyond(count: number): void {
    this.#beyond += count;
    this.#shared.beyond += count;
  }
}
