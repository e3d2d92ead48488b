import type { PartnerError } from './partner-error.ts';

const attemptsMax = 3;
// Below this pace the service is known to be in trouble: one attempt tells as much as three.
const retryPaceMin = 0.2;

/**
 * In how many milliseconds to repeat a failed request within the same poll, null for not at all; pure. Only faults that
 * pass quickly are repeated: a broken connection, a deadline, a 5xx or a cut answer, up to two times.
 */
export function retryDelayMs(
  error: PartnerError,
  attempt: number,
  pace: number,
  random: () => number,
): number | null {
  if (!isPassing(error) || attempt >= attemptsMax || pace < retryPaceMin) return null;
  return Math.round(100 + 400 * random());
}

/** Whether a failure speaks of a service that should be asked less often; pure. */
export function isTrouble({ kind }: PartnerError): boolean {
  return kind === 'rate_limited' || kind === 'unavailable' || kind === 'timeout' || kind === 'network';
}

// A Retry-After is meant for the whole account, so it is not waited for here.
function isPassing({ kind, retryAfterMs }: PartnerError): boolean {
  if (retryAfterMs !== null) return false;
  return kind === 'unavailable' || kind === 'timeout' || kind === 'network' || kind === 'invalid_response';
}
