import { createBoundedMap } from '../../memory/bounded-map.ts';
import type { DrainPlaces } from '../schedule/drain-places.ts';
import {
  limitAt,
  newWindow,
  windowAfter,
  windowAfterRest,
  windowRules,
  type Answer,
  type Window,
} from './window.ts';

/**
 * The places in flight of one drain. Each beyond the first ten needs an answer: two come with each 2xx of the
 * last answers, and are gone with the next ones.
 */
export interface Places extends DrainPlaces {
  /** Takes note of answers that arrived together. */
  answered(answers: readonly Answer[], now: number): void;
  /**
   * From now on the callbacks go to this URL, with no more in flight than these settings permit; nothing is
   * known of another endpoint than before.
   */
  sendTo(settings: PlaceSettings, now: number): void;
  /** Gives back all places that are still taken. */
  close(): void;
}

/** The windows of the subscriptions that a process delivers to, in its memory only. */
export interface SubscriptionWindows {
  /** The places of a drain that begins. */
  open(account: string, id: string, now: number): Places;
}

/** The settings of a subscription that its places depend on. */
export interface PlaceSettings {
  readonly url: string;
  /** Null or missing means the daemon's maximum, which bounds it in any case. */
  readonly maxInFlight?: number | null;
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

/**
 * No window is known yet. `maxInFlight` is the maximum per subscription. `isBusy` is true while this process
 * has no time for more in flight.
 */
export function createSubscriptionWindows(maxInFlight: number, isBusy: () => boolean): SubscriptionWindows {
  const known = createBoundedMap<string, Known>(knownMax);
  let beyond = 0;

  return {
    open(account, id, openedAt) {
      const key = `${account}/${id}`;
      const former = known.get(key);
      let { url = '', max = maxInFlight } = former ?? {};
      let rules = windowRules(max);
      const { answeredAt = openedAt } = former ?? {};
      let window = former?.window ?? newWindow(rules, openedAt);
      window = windowAfterRest(window, answeredAt, openedAt, rules);
      let limited = false;
      let paid = 0;
      let own = 0;
      return {
        limit: () => window.limit,
        isFree(inFlight, oldestAt, now) {
          const limit = limitAt(window, oldestAt, now, rules);
          if (inFlight < Math.min(limit, rules.start)) return true;
          limited = true;
          return inFlight < limit && paid > 0 && beyond < beyondMax;
        },
        take(inFlight) {
          if (inFlight < rules.start) return;
          paid -= 1;
          own += 1;
          beyond += 1;
        },
        giveBack(inFlight) {
          if (inFlight <= rules.start || own === 0) return;
          own -= 1;
          beyond -= 1;
        },
        answered(answers, now) {
          if (answers.length === 0) return;
          window = windowAfter(window, answers, { limited, busy: isBusy() }, now, rules);
          const accepted = answers.filter(({ kind }) => kind === 'accepted').length;
          paid = accepted * placesOfAnswer;
          limited = false;
          known.set(key, { url, max, window, answeredAt: now });
        },
        sendTo(to, now) {
          const permitted = Math.min(to.maxInFlight ?? maxInFlight, maxInFlight);
          if (to.url === url && permitted === max) return;
          rules = windowRules(permitted);
          if (url !== '' || permitted !== max) window = newWindow(rules, now);
          ({ url } = to);
          max = permitted;
        },
        close() {
          beyond -= own;
          own = 0;
        },
      };
    },
  };
}
