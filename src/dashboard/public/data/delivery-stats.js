/** @import { Attempt, Subscription } from '../../api-types.ts' */

/**
 * Statistics of attempts, aborted ones and tests left out; pure. They are the number of attempts, the
 * number of delivered ones, and the median duration of these in milliseconds, null if there are none.
 * @param {Attempt[]} attempts
 */
export function deliveryStats(attempts) {
  const counted = attempts.filter(counts);
  const delivered = counted.filter(({ outcome }) => outcome === 'delivered');
  const durations = delivered.map(({ durationMs }) => durationMs).toSorted((one, other) => one - other);
  return {
    attempts: counted.length,
    delivered: delivered.length,
    medianMs: durations[Math.floor(durations.length / 2)] ?? null,
  };
}

/** @type {(attempt: Attempt) => boolean} */
const counts = ({ outcome, eventType }) => outcome !== 'aborted' && eventType !== 'ping';

// Milliseconds for which a failed attempt counts against an endpoint that works again.
const recentMs = 86_400_000;
// Share of the attempts that an endpoint in order takes, and the fewest attempts that say anything.
const goodShare = 0.9;
const attemptsMin = 4;

/**
 * The state of a subscription as the page shows it: `degraded` if it is active but many of its attempts of
 * the last day failed; pure.
 * @param {Pick<Subscription, 'state'>} subscription
 * @param {Attempt[]} attempts the latest
 * @param {number} now milliseconds
 */
export function shownState({ state }, attempts, now) {
  if (state !== 'active') return state;
  const recent = attempts.filter(({ at }) => now - Date.parse(at) < recentMs);
  const { attempts: all, delivered } = deliveryStats(recent);
  return all >= attemptsMin && delivered / all < goodShare ? 'degraded' : state;
}

// Reasons for which a subscription is disabled as its owner wants it.
const wishedReasons = new Set(['by request', 'expired']);

/**
 * Whether a subscription does not deliver as its owner wants it, and is not disabled by its owner; pure.
 * @param {Pick<Subscription, 'state' | 'disabledReason'>} subscription
 */
export function isInTrouble({ state, disabledReason }) {
  return state === 'disabled' ? !wishedReasons.has(disabledReason ?? '') : state !== 'active';
}

/**
 * The failures since the last success: how many there are, since when, and the outcome of the latest. Null if
 * the latest attempt succeeded or there is none; pure.
 * @param {Attempt[]} attempts newest first
 */
export function presentFailure(attempts) {
  const counted = attempts.filter(counts);
  const end = counted.findIndex(({ outcome }) => outcome === 'delivered');
  const failures = end === -1 ? counted : counted.slice(0, end);
  const [latest] = failures;
  const first = failures.at(-1);
  if (latest === undefined || first === undefined) return null;
  const same = failures.filter(
    ({ outcome, statusCode }) => outcome === latest.outcome && statusCode === latest.statusCode,
  );
  return {
    outcome: latest.outcome,
    statusCode: latest.statusCode,
    alike: same.length,
    failures: failures.length,
    isFromTheStart: end === -1,
    since: first.at,
  };
}
