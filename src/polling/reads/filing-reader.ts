import { aboutFilings, consequence, PartnerError } from '../../partner/partner-error.ts';
import { allEnded } from '../../waiting/all-ended.ts';
import { isRetryDue, missedByFailure } from '../beliefs/missed-reads.ts';
import type { ReadSpan } from '../../partner/read-span.ts';
import { createAbsences } from './absences.ts';
import type { MissedRecord } from './missed-record.ts';
import type { Findings } from './findings.ts';
import type { PollInput } from './poll-input.ts';

// Maximum number of filings requested side by side.
const readsAtOnce = 8;
const failuresInARowMax = 5;
// Maximum number of doubtful filings that are requested without success.
const samplesMax = 20;

/** Reads filings of one poll one by one, and keeps record of those that cannot be read. */
export function createFilingReader(
  now: () => number,
  input: PollInput,
  findings: Findings,
  missed: MissedRecord,
) {
  const { client, signal } = input;
  const { pollIntervalMs } = input.account;
  const { tally } = findings;
  const absences = createAbsences(input, findings, missed);
  let failuresInARow = 0;

  async function readOne(id: string): Promise<void> {
    const before = missed.get(id);
    if (before !== undefined && !isRetryDue(before, now())) {
      tally.unread += 1;
      return;
    }
    try {
      const { filing, span } = await client.getFiling(id, signal);
      failuresInARow = 0;
      if (filing === null) await noteAbsence(id, span);
      else await findings.observe([{ id, filing }], span);
    } catch (error) {
      await noteFailure(id, error);
    }
  }

  async function noteAbsence(id: string, span: ReadSpan): Promise<void> {
    try {
      await absences.note(id, span);
    } catch (error) {
      // One answer for all of them: it is no sign that filings cannot be read.
      await leaveOut(id, error);
    }
  }

  async function noteFailure(id: string, error: unknown): Promise<void> {
    failuresInARow += 1;
    await leaveOut(id, error);
    // A record that the lists lack cannot be read by itself either.
    if (failuresInARow >= failuresInARowMax + tally.leftOut && error instanceof PartnerError)
      throw aboutFilings(error);
  }

  async function leaveOut(id: string, error: unknown): Promise<void> {
    if (!(error instanceof PartnerError) || consequence(error, 'filing') === 'poll_ends') throw error;
    tally.filingFailure = error;
    tally.unread += 1;
    const notBefore = await missed.notBefore(id);
    if (notBefore !== null)
      await missed.remember(id, missedByFailure(missed.get(id), now(), notBefore, pollIntervalMs));
  }

  async function readAll(ids: readonly string[]): Promise<void> {
    const queue = ids.values();
    let broken = false;
    const work = async () => {
      for (const id of queue) {
        if (broken) return;
        await readOne(id);
      }
    };
    const workers = Array.from({ length: Math.min(readsAtOnce, ids.length) }, () =>
      work().catch((error: unknown) => {
        broken = true;
        throw error;
      }),
    );
    await allEnded(workers);
  }

  return {
    /**
     * Requests each filing that is due. A filing that cannot be read is counted, and the others go on.
     * Several such failures in a row reject with the last PartnerError, as does a refusal of the whole
     * account. With `isDoubtful`, when filings may no longer be the account's, only a few are requested, and
     * the others only if one of these exists.
     */
    async read(ids: readonly string[], isDoubtful: boolean = false) {
      if (findings.isOther()) return;
      const sample = isDoubtful ? ids.slice(0, samplesMax) : ids;
      await readAll(sample);
      if (sample.some((id) => missed.get(id) === undefined)) await readAll(ids.slice(sample.length));
    },
    /** Removes the filings that answered 404 on two polls. */
    removeAbsent: absences.remove,
    /** Number of second 404s of this poll that wait for `removeAbsent`. */
    absent: absences.count,
  };
}
