/**
 * The fields of a filing that a change can move, as the partner service holds them; null = it does not know
 * the filing.
 */
export type PartnerState = {
  readonly status: string;
  readonly completedAt: string | null;
  readonly rejectionReason: string | null;
} | null;

/**
 * How long the partner service held one state of a filing. Times here and below are milliseconds of one
 * machine's clock.
 */
export interface Dwell {
  readonly account: string;
  readonly filingId: string;
  readonly state: PartnerState;
  /** When it certainly showed. */
  readonly from: number;
  /** From when on it may have shown another; Infinity for the last one. */
  readonly until: number;
}

/** One state of a filing as answers of the partner service showed it. */
export interface Served {
  readonly account: string;
  readonly filingId: string;
  readonly state: PartnerState;
  /** When the first such answer began. */
  readonly first: number;
}

/** A poll that a daemon has called complete. */
export interface CompletePoll {
  readonly account: string;
  readonly from: number;
  readonly to: number;
}

/** A subscriber, registered after the baseline and before the first change. */
export interface Subscriber {
  readonly id: string;
  readonly account: string;
  readonly secret: string;
}

/** A callback as it came in and what was answered. */
export interface TapedCallback {
  readonly subscription: string;
  readonly id: string;
  /** `webhook-timestamp` and `webhook-signature` as they came. */
  readonly timestamp: string;
  readonly signature: string;
  readonly body: Buffer;
  readonly arrivedAt: number;
  /** Null when the connection ended before the answer was written. */
  readonly answeredAt: number | null;
  readonly status: number;
}

/** What the partner service and the receivers have written down in one run. */
export interface Journals {
  /** Each filing's states from the baseline on, in their order. */
  readonly dwells: readonly Dwell[];
  readonly served: readonly Served[];
  readonly polls: readonly CompletePoll[];
  readonly subscribers: readonly Subscriber[];
  readonly callbacks: readonly TapedCallback[];
}
