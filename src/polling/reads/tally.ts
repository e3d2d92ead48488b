import type { Observed } from '../../filings/observe-filings.ts';
import type { PartnerError } from '../../partner/partner-error.ts';

/**
 * The counts and findings of one poll so far. The reads of the poll write it; the poll's outcome is decided
 * from it.
 */
export type Tally = ReturnType<typeof startTally>;

/**
 * The tally before the first read; `events` is the number of events that the poll has put into the log so
 * far.
 */
export function startTally(events: number) {
  return {
    /** Events put into the log. */
    events,
    /** Filings never seen before. */
    added: 0,
    /** Known filings that could not be read, including those left alone for now. */
    unread: 0,
    /**
     * True when a newer read, of a poll that started before this one, overtook a read. That read then proves
     * nothing about its time.
     */
    overtaken: false,
    /** The last failures that did not end the poll; null when there was none. */
    listFailure: null as PartnerError | null,
    filingFailure: null as PartnerError | null,
    /** Records of lists that the service could not write, not even alone. */
    leftOut: 0,
    /** Records that lists cannot show although they were read, in words, by status; '' is the whole list. */
    gaps: new Map<string, string>(),
    /** The filing that a list has shown last; null when no list has shown a filing. */
    listedFiling: null as string | null,
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
