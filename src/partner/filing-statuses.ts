/** One status of a filing as the daemon knows it. */
export interface FilingStatus {
  readonly status: string;
  /** One letter for it in stored states. */
  readonly code: string;
  /** True when no further change is expected; filings in the other statuses are expected to move on. */
  readonly settled: boolean;
  /**
   * Whether the snapshot's index by status has its filings. COMPLETED filings, which are most of them, are in
   * no index.
   */
  readonly indexed: boolean;
  /** Type of the event for a filing that has entered the status. */
  readonly event: string;
}

/**
 * The statuses of the partner service (docs/partner.md#statuses), in the order in which a filing passes them.
 * The service may send others: those are passed on verbatim, indexed, and neither settled nor unsettled.
 */
export const filingStatuses = [
  { status: 'UNPAID', code: 'U', settled: false, indexed: true, event: 'filing.unpaid' },
  { status: 'PAID', code: 'A', settled: false, indexed: true, event: 'filing.paid' },
  { status: 'PENDING', code: 'P', settled: false, indexed: true, event: 'filing.pending' },
  { status: 'COMPLETED', code: 'C', settled: true, indexed: false, event: 'filing.completed' },
  { status: 'REJECTED', code: 'R', settled: true, indexed: true, event: 'filing.rejected' },
] as const satisfies readonly FilingStatus[];

/** Names of all known statuses. */
export const knownStatuses: readonly string[] = filingStatuses.map(({ status }) => status);

/** The statuses in which a filing is expected to move on. */
export const unsettledStatuses = namesWhere(({ settled }) => !settled);

/** The statuses whose filings stand in no index. */
const unindexedStatuses = namesWhere(({ indexed }) => !indexed);

/** The statuses in which a filing is expected to stay. */
export const settledStatuses = namesWhere(({ settled }) => settled);

const known = new Set(knownStatuses);
const unsettled = new Set(unsettledStatuses);
const settled = new Set(settledStatuses);
const unindexed = new Set(unindexedStatuses);

/** Whether the partner service is known to use this status. */
export function isKnownStatus(status: string): boolean {
  return known.has(status);
}

/** Whether a filing in this status is expected to move on; false for unknown statuses. */
export function isUnsettled(status: string): boolean {
  return unsettled.has(status);
}

/** Whether a filing in this status is expected to stay; false for unknown statuses. */
export function isSettled(status: string): boolean {
  return settled.has(status);
}

/** Whether the snapshot's index by status has filings in this status; true for unknown statuses. */
export function isIndexed(status: string): boolean {
  return !unindexed.has(status);
}

function namesWhere(holds: (status: FilingStatus) => boolean): readonly string[] {
  return filingStatuses.filter(holds).map(({ status }) => status);
}
