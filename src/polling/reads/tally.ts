import type { Observed } from '../../filings/observe-filings.ts';
import type { PartnerError } from '../../partner/partner-error.ts';

/**
 * The counts and findings of one poll so far. The reads of the poll write it; the poll's outcome is decided
 * from it.
 */
export interface Tally {
  /** Events put into the log. */
  events: number;
  /** Filings never seen before. */
  added: number;
  /** Known filings that could not be read, including those left alone for now. */
  unread: number;
  /**
   * True when a newer read, of a poll that started before this one, overtook a read. That read then proves
   * nothing about its time.
   */
  overtaken: boolean;
  /** The last failures that did not end the poll; null when there was none. */
  listFailure: PartnerError | null;
  filingFailure: PartnerError | null;
  /** Records of lists that the service could not write, not even alone. */
  leftOut: number;
  /** Records that lists cannot show although they were read, in words, by status; '' is the whole list. */
  readonly gaps: Map<string, string>;
  /** The filing that a list has shown last; null when no list has shown a filing. */
  listedFiling: string | null;
}

/**
 * The tally before the first read; `events` is the number of events that the poll has put into the log so
 * far.
 */
export function startTally(events: number): Tally {
  return {
    events,
    added: 0,
    unread: 0,
    overtaken: false,
    listFailure: null,
    filingFailure: null,
    leftOut: 0,
    gaps: new Map(),
    listedFiling: null,
  };
}

/** Adds the result of comparing one request's filings, in a poll that began at `startedAt`. */
export function countObserved(tally: Tally, observed: Observed, startedAt: number): void {
  tally.events += observed.events.length;
  tally.added += observed.added;
  tally.overtaken ||= observed.overtakenBy < startedAt;
}

/** The last failure that did not end the poll; null when there was none. */
export function failureOf({ filingFailure, listFailure }: Readonly<Tally>): PartnerError | null {
  return filingFailure ?? listFailure;
}
