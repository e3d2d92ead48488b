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
  /** Known filings that could not be read, the ones left alone for now included. */
  unread: number;
  /**
   * True when a read met a newer one of a poll that started before this one: then it proves nothing about its
   * time.
   */
  overtaken: boolean;
  /** The last failures that did not end the poll; null when there was none. */
  listFailure: PartnerError | null;
  filingFailure: PartnerError | null;
  /** The filing that a list has shown last; null when none has shown any. */
  listedFiling: string | null;
}

/** Before the first read; `events` is the number that the poll has put into the log before that. */
export function startTally(events: number): Tally {
  return {
    events,
    added: 0,
    unread: 0,
    overtaken: false,
    listFailure: null,
    filingFailure: null,
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
