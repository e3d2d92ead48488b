/** The marks of an account that was never polled. Times are milliseconds on Redis's clock, 0 = never. */
export const noMarks = {
  /**
   * A random id, drawn when the account's snapshot began. Writers to the snapshot name it, and write nothing
   * once the stored one differs.
   */
  generation: '',
  /** Once true it stays so. */
  baselined: false,
  /** Polls in a row that read the whole list and found nothing new although the counts differ. */
  dryPolls: 0,
  /**
   * Number of filings that the service counts but has never listed. During the baseline: the lowest such
   * number in polls that found nothing new. Afterwards: the number of filings that may still appear without
   * being reported as new; it only decreases.
   */
  hidden: 0,
  /** Start of the poll that completed the baseline. */
  baselinedAt: 0,
  lastPollAt: 0,
  /** Start of the last scheduled poll that sent requests. */
  scheduledPollAt: 0,
  /** Start of the last complete poll. */
  lastCompletePollAt: 0,
  /** End of the last complete poll. */
  lastCompleteEndAt: 0,
  /** Start of the last complete full listing. */
  lastSweepAt: 0,
  /** Start of the last full listing, however it ended. */
  sweepTriedAt: 0,
  consecutiveFailures: 0,
  /** No scheduled poll before this time; 0 while the account is not backing off. */
  backoffUntil: 0,
  /** The failure of the last poll; empty when it read everything. */
  lastError: '',
  /** Records that the last full listing could not show, in words; empty when it showed all. */
  leftOut: '',
  /** True from the `account.auth_failed` event until the next complete poll. */
  authFailed: false,
  /** True from the `account.stale` event until the next complete poll. */
  staleReported: false,
  /** The standing doubt, see `standingDoubt`; empty when nothing is held back. */
  doubt: '',
  /** Digest of the account that the service last named without a doubt; empty when it has named none. */
  identity: '',
  /** When the identity was last requested without a doubt. */
  identityAt: 0,
  /** When the last operational event of the account was appended. */
  toldAt: 0,
  /** The local date of the last digest, `2026-11-28`, and when it was appended; empty and 0 without one. */
  digestDate: '',
  digestAt: 0,
  /** Start of the last poll that saw every filing known to be unsettled, except the missed ones. */
  unsettledSeenAt: 0,
  /** Start of the last poll that saw every known filing, except the missed ones. */
  allSeenAt: 0,
  /** Start of the last full listing that stood still and held known filings only. */
  bornSeenAt: 0,
  /** Start of the last poll after which the number of known filings equalled the service's totals. */
  countedAt: 0,
  /** Number of filings found removed so far, ever. */
  removals: 0,
  /** Milliseconds for which the last poll, or the one under way, waited for its turns at the host. */
  budgetWaitMs: 0,
  /** When the oldest attempts were last removed to stay within the account's bytes (settle.lua). */
  attemptsDroppedAt: 0,
  /** The same of dead letters. */
  deadLettersDroppedAt: 0,
  /** The same of events of the log (trim-events.lua). */
  eventsDroppedAt: 0,
  requestsTotal: 0,
  requestsLastPoll: 0,
};

/** The progress of polling one account. */
export type PollingMarks = Readonly<typeof noMarks>;

/** The marks that a poll changes; the others stay. */
export type MarksUpdate = Partial<
  Omit<
    PollingMarks,
    'generation' | 'removals' | 'requestsTotal' | 'doubt' | `digest${string}` | `${string}DroppedAt`
  >
>;

/** Names of the marks whose text cannot be read: numbers that are none; pure. */
export function unreadableMarks(fields: Readonly<Record<string, string>>): string[] {
  return Object.entries(noMarks).flatMap(([name, sample]) =>
    typeof sample === 'number' && !Number.isFinite(Number(fields[name] ?? 0)) ? [name] : [],
  );
}

/** Marks as fields and values of the stored hash. */
export function encodeMarks(marks: Partial<PollingMarks>): string[] {
  return Object.entries(marks).flatMap(([name, value]) => [name, String(value)]);
}

/** The marks in the fields of the stored hash; a mark without a field is as in `noMarks`. */
export function decodeMarks(fields: Readonly<Record<string, string>>): PollingMarks {
  const marks: Record<string, unknown> = { ...noMarks };
  for (const [name, sample] of Object.entries(noMarks)) {
    const text = fields[name];
    if (text === undefined) continue;
    marks[name] =
      typeof sample === 'boolean' ? text === 'true' : typeof sample === 'number' ? toNumber(text) : text;
  }
  return marks as unknown as PollingMarks;
}

// The next poll sets a value aside that is not a number.
function toNumber(text: string): number {
  const value = Number(text);
  return Number.isFinite(value) ? value : 0;
}
