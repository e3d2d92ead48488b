/**
 * What the daemon remembers of one filing: enough to tell the next change, no document. Times are milliseconds on
 * Redis's clock.
 */
export interface FilingState {
  readonly status: string;
  readonly completedAt: string | null;
  readonly rejectionReason: string | null;
  /** Number of events of this filing so far; 0 for one known from the baseline only. */
  readonly sequence: number;
  /** Since when the status is what it is, as far as reads can tell (end of the read that showed it). */
  readonly since: number;
  /** Start of the last read that changed this state: nothing since has shown it to be older than that. */
  readonly readFrom: number;
  /** End of that read. A read that did not start after it may be older than what is known. */
  readonly readAt: number;
  /** True once the partner service did not know the filing on two polls. */
  readonly removed: boolean;
}

const format = 1;

// Maps, because a status may be called `__proto__`.
const short = new Map([
  ['UNPAID', 'U'],
  ['PAID', 'A'],
  ['PENDING', 'P'],
  ['COMPLETED', 'C'],
  ['REJECTED', 'R'],
]);
const long = new Map([...short].map(([status, letter]) => [letter, status]));

/** The state as stored: a JSON array that starts with the format's version, about 75 bytes. Equal states encode equally. */
export function encodeState(state: FilingState): string {
  return JSON.stringify([
    format,
    short.get(state.status) ?? `=${state.status}`,
    state.completedAt,
    state.rejectionReason,
    state.sequence,
    state.since,
    state.readAt,
    state.readAt - state.readFrom,
    ...(state.removed ? [1] : []),
  ]);
}

/** Reads what `encodeState` wrote. Throws on a version it does not know, so that a newer format is never overwritten. */
export function decodeState(text: string): FilingState {
  const [version, status, completedAt, rejectionReason, sequence, since, readAt, readMs, removed] =
    JSON.parse(text) as [
      number,
      string,
      string | null,
      string | null,
      number,
      number,
      number,
      number,
      number?,
    ];
  if (version !== format) {
    throw new Error(
      `filing state of format ${version}; this version reads format ${format}: run the newer filing-webhooks`,
    );
  }
  return {
    status: long.get(status) ?? status.slice(1),
    completedAt,
    rejectionReason,
    sequence,
    since,
    readFrom: readAt - readMs,
    readAt,
    removed: removed === 1,
  };
}
