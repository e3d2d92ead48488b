/** The meaning of an answer for the pace of requests. */
export type Verdict =
  | 'fine' // the service accepts this pace
  | 'trouble' // 5xx, timeouts, broken connections: the service is not well
  | 'refused'; // 429: the pace is too high

/** The pace of requests to one account's service, as learnt from its answers. */
export interface Pace {
  /** Requests a second that the service is believed to accept. */
  readonly acceptedRps: number;
  /** The share of these in use: 1 when the service is well, less while it is in trouble. */
  readonly share: number;
  /** Refusals since it last accepted a request. */
  readonly refusedInARow: number;
}

const shareMin = 1 / 16;
const shareGain = 1 / 32;
// Requests a second; a service that accepts fewer cannot be polled.
const rpsMin = 0.1;
// Seconds in which an account with steady requests gets from nothing to its whole ceiling.
const recoveryS = 600;

/** The pace for a service of which nothing is known; pure. */
export function untriedPace(maxRps: number): Pace {
  return { acceptedRps: maxRps, share: 1, refusedInARow: 0 };
}

/** Requests a second that may be sent; pure. */
export function rpsOf({ acceptedRps, share }: Pace): number {
  return Math.max(rpsMin, acceptedRps * share);
}

/**
 * The pace after an answer; pure: additive increase, multiplicative decrease. A refusal after accepted
 * requests lowers the accepted pace to `inLastSecond`, the requests accepted in the second before it, or to
 * half if that is no less or still less. Refusals that follow do not lower it further. The pace recovers
 * within ten minutes of steady requests, the share within 32 answers.
 */
export function nextPace(
  pace: Pace,
  verdict: Verdict,
  { maxRps, inLastSecond }: { readonly maxRps: number; readonly inLastSecond: number },
): Pace {
  const { acceptedRps, share, refusedInARow } = pace;
  switch (verdict) {
    case 'fine':
      return {
        acceptedRps: Math.min(maxRps, acceptedRps + maxRps / recoveryS / acceptedRps),
        share: Math.min(1, share + shareGain),
        refusedInARow: 0,
      };
    case 'trouble':
      return { ...pace, share: Math.max(shareMin, share / 2) };
    case 'refused':
      return {
        ...pace,
        acceptedRps: refusedInARow > 0 ? acceptedRps : fallenRps(acceptedRps, inLastSecond),
        refusedInARow: refusedInARow + 1,
      };
  }
}

function fallenRps(acceptedRps: number, inLastSecond: number): number {
  const half = Math.max(rpsMin, acceptedRps / 2);
  return inLastSecond < acceptedRps ? Math.max(half, inLastSecond) : half;
}
