/** The progress of polling one account. Times are milliseconds on Redis's clock, 0 = never. */
export interface PollingMarks {
  /**
   * A random id, drawn when the account's snapshot began. Writers to the snapshot name it, and write nothing
   * once the stored one differs.
   */
  readonly generation: string;
  /** Once true it stays so. */
  readonly baselined: boolean;
  /** Polls in a row that read the whole list and found nothing new although the counts differ. */
  readonly dryPolls: number;
  /**
   * Number of filings that the service counts but has never listed. During the baseline: the lowest such
   * number in polls that found nothing new. Afterwards: the number of filings that may still appear without
   * being reported as new; it only decreases.
   */
  readonly hidden: number;
  /** Start of the poll that completed the baseline. */
  readonly baselinedAt: number;
  readonly lastPollAt: number;
  /** Start of the last scheduled poll that sent requests. */
  readonly scheduledPollAt: number;
  /** Start of the last complete poll. */
  readonly lastCompletePollAt: number;
  /** End of the last complete poll. */
  readonly lastCompleteEndAt: number;
  /** Start of the last complete full listing. */
  readonly lastSweepAt: number;
  /** Start of the last full listing, however it ended. */
  readonly sweepTriedAt: number;
  readonly consecutiveFailures: number;
  /** No scheduled poll before this time; 0 while the account is not backing off. */
  readonly backoffUntil: number;
  /** The failure of the last poll; empty when it read everything. */
  readonly lastError: string;
  /** Records that the last full listing could not show, in words; empty when it showed all. */
  readonly leftOut: string;
  /** True from the `account.auth_failed` event until the next complete poll. */
  readonly authFailed: boolean;
  /** True from the `account.stale` event until the next complete poll. */
  readonly staleReported: boolean;
  /** The standing doubt, see `standingDoubt`; empty when nothing is held back. */
  readonly doubt: string;
  /** Digest of the account that the service last named without a doubt; empty when it has named none. */
  readonly identity: string;
  /** When the identity was last requested without a doubt. */
  readonly identityAt: number;
  /** When the last operational event of the account was appended. */
  readonly toldAt: number;
  /** Start of the last poll that saw every filing known to be unsettled, except the missed ones. */
  readonly unsettledSeenAt: number;
  /** Start of the last poll that saw every known filing, except the missed ones. */
  readonly allSeenAt: number;
  /** Start of the last full listing that stood still and held known filings only. */
  readonly bornSeenAt: number;
  /** Start of the last poll after which the number of known filings equalled the service's totals. */
  readonly countedAt: number;
  /** Number of filings found removed so far, ever. */
  readonly removals: number;
  /** Milliseconds for which the last poll, or the one under way, waited for its turns at the host. */
  readonly budgetWaitMs: number;
  /** When the oldest attempts were last removed to stay within the account's bytes (settle.lua). */
  readonly attemptsDroppedAt: number;
  /** The same of dead letters. */
  readonly deadLettersDroppedAt: number;
  /** The same of events of the log (trim-events.lua). */
  readonly eventsDroppedAt: number;
  readonly requestsTotal: number;
  readonly requestsLastPoll: number;
}

/** The marks that a poll changes; the others stay. */
export type MarksUpdate = Partial<
  Omit<PollingMarks, 'generation' | 'removals' | 'requestsTotal' | 'doubt' | `${string}DroppedAt`>
>;

/** The marks of an account that was never polled. */
export const noMarks: PollingMarks = {
  generation: '',
  baselined: false,
  dryPolls: 0,
  hidden: 0,
  baselinedAt: 0,
  lastPollAt: 0,
  scheduledPollAt: 0,
  lastCompletePollAt: 0,
  lastCompleteEndAt: 0,
  lastSweepAt: 0,
  sweepTriedAt: 0,
  consecutiveFailures: 0,
  backoffUntil: 0,
  lastError: '',
  leftOut: '',
  authFailed: false,
  staleReported: false,
  doubt: '',
  identity: '',
  identityAt: 0,
  toldAt: 0,
  unsettledSeenAt: 0,
  allSeenAt: 0,
  bornSeenAt: 0,
  countedAt: 0,
  removals: 0,
  budgetWaitMs: 0,
  attemptsDroppedAt: 0,
  deadLettersDroppedAt: 0,
  eventsDroppedAt: 0,
  requestsTotal: 0,
  requestsLastPoll: 0,
};

/** Names of the marks whose text cannot be read: numbers that are none; pure. */
export function unreadableMarks(fields: Readonly<Record<string, string>>): string[] {
  return Object.entries(noMarks).flatMap(([name, sample]) =>
    typeof sample === 'number' && !Number.isFinite(Number(fields[name] ?? 0)) ? [name] : [],
  );
}

/** Marks as fields and values of the stored hash. */
export function encodeMarks(marks: MarksUpdate): string[] {
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
