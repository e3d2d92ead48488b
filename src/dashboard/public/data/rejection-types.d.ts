/** A time of the API: ISO 8601 in UTC. */
type Time = string;

/** The person who took note of a rejection. */
export interface Seen {
  by: string;
  note: string | null;
  at: Time;
}

/** A filing on the rejection board. */
export interface Rejection {
  account: string;
  filingId: string;
  policyNumber: string | null;
  insuredsName: string | null;
  stateAbbr: string | null;
  premium: number | null;
  rejectionReason: string | null;
  since: Time;
  sequence: number;
  seen: Seen | null;
}

/** A page of the rejection board, with what is true of all of it. */
export interface RejectionPage {
  items: Rejection[];
  nextCursor: string | null;
  total: number;
  byReason: { reason: string | null; count: number }[];
  byState: { state: string | null; count: number }[];
  /** Whether groups and `total` are of all rejections. */
  groupsComplete: boolean;
  /** Accounts that are not current first; at most 200. */
  accounts: { account: string; health: string; asOf: Time | null }[];
  accountsTotal: number;
}
