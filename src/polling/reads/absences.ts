import { PartnerError } from '../../partner/partner-error.ts';
import type { ReadSpan } from '../../partner/read-span.ts';
import { allEnded } from '../../waiting/all-ended.ts';
import { isSecondAbsence, missedByAbsence } from '../beliefs/missed-reads.ts';
import type { Findings } from './findings.ts';
import type { MissedRecord } from './missed-record.ts';
import type { PollInput } from './poll-input.ts';

/** A known filing that answered 404 on two polls, with the span of the second read. */
interface Absence {
  readonly id: string;
  readonly span: ReadSpan;
  /**
   * Latest time (ms, Redis's clock) before the first 404 at which it is known to have been as stored. A list
   * of the same poll may show it again before it is removed.
   */
  readonly notBefore: number;
}

const removedAtOnce = 8;

/** The filings that answer 404 to one poll; none yet. */
export function createAbsences(
  { client, startedAt, signal }: PollInput,
  findings: Findings,
  missed: MissedRecord,
) {
  let vouched: Promise<void> | undefined;
  let absences: Absence[] = [];

  // A 404 proves nothing if the service knows neither the account nor the filing that it has just listed.
  async function vouchForAbsences(): Promise<void> {
    findings.noteAccount(await client.checkAccount(signal));
    const { listedFiling } = findings.tally;
    if (listedFiling === null || (await client.getFiling(listedFiling, signal)).filing !== null) return;
    throw new PartnerError('invalid_response', 'GET filing answers 404 for a filing that a list has shown', {
      status: 404,
    });
  }

  async function removeOne({ id, span, notBefore }: Absence): Promise<void> {
    await findings.observe([{ id, filing: null }], span, { notBefore: () => notBefore });
    await missed.forget([id]);
  }

  return {
    /**
     * Takes note of a 404. Before the first one that is a filing's second, the service has to prove that it
     * knows the account and a filing that it has listed: this and all later ones reject with PartnerError if
     * it does not.
     */
    async note(id: string, span: ReadSpan) {
      const notBefore = await missed.notBefore(id);
      const before = missed.get(id);
      // Another poll has removed it meanwhile.
      if (notBefore === null) return missed.forget([id]);
      if (!isSecondAbsence(before, startedAt))
        return missed.remember(id, missedByAbsence(before, span.end, notBefore));
      vouched ??= vouchForAbsences();
      await vouched;
      absences.push({ id, span, notBefore });
    },
    /** Removes the filings that answered 404 on two polls. */
    async remove() {
      const removed = absences;
      absences = [];
      for (let from = 0; from < removed.length; from += removedAtOnce)
        await allEnded(removed.slice(from, from + removedAtOnce).map(removeOne));
    },
    /** Number of filings that wait for `remove`. */
    count: (): number => absences.length,
  };
}
