import { aboutFilings, consequence, PartnerError } from '../../partner/partner-error.ts';
import { allEnded } from '../../waiting/all-ended.ts';
import { isRetryDue, isSecondAbsence, missedByAbsence, missedByFailure } from '../beliefs/missed-reads.ts';
import type { ReadSpan } from '../../partner/read-span.ts';
import type { MissedRecord } from './missed-record.ts';
import type { Findings } from './findings.ts';
import type { PollInput } from './poll-input.ts';

/** Reads filings one by one, and keeps record of those that cannot be read. */
export interface FilingReader {
  /**
   * Requests each filing that is due. A filing that cannot be read is counted, and the others go on. Several
   * such failures in a row reject with the last PartnerError, as does a refusal of the whole account. With
   * `isDoubtful`, where filings may no longer be the account's, a few are requested, and the others only when
   * one of these exists.
   */
  read(ids: readonly string[], isDoubtful?: boolean): Promise<void>;
  /** Removes the filings that answered 404 on two polls. */
  removeAbsent(): Promise<void>;
  /** Number of second 404s of this poll that wait for `removeAbsent`. */
  absent(): number;
}

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

// Maximum number of filings requested side by side.
const readsAtOnce = 8;
const failuresInARowMax = 5;
// Maximum number of doubtful filings that are requested without success.
const samplesMax = 20;
const removedAtOnce = 8;

/** A reader for one poll. */
export function createFilingReader(
  now: () => number,
  { account: { pollIntervalMs }, client, startedAt, signal }: PollInput,
  findings: Findings,
  missed: MissedRecord,
): FilingReader {
  const { tally } = findings;
  let failuresInARow = 0;
  let vouched: Promise<void> | undefined;
  let absences: Absence[] = [];

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
    const notBefore = await missed.notBefore(id);
    const before = missed.get(id);
    // Another poll has removed it meanwhile.
    if (notBefore === null) return missed.forget([id]);
    if (!isSecondAbsence(before, startedAt))
      return missed.remember(id, missedByAbsence(before, span.end, notBefore));
    vouched ??= vouchForAbsences();
    try {
      await vouched;
    } catch (error) {
      // One answer for all of them: it is no sign that filings cannot be read.
      return leaveOut(id, error);
    }
    absences.push({ id, span, notBefore });
  }

  // A 404 proves nothing if the service knows neither the account nor the filing that it has just listed.
  async function vouchForAbsences(): Promise<void> {
    findings.noteAccount(await client.checkAccount(signal));
    const { listedFiling } = tally;
    if (listedFiling === null || (await client.getFiling(listedFiling, signal)).filing !== null) return;
    throw new PartnerError('invalid_response', 'GET filing answers 404 for a filing that a list has shown', {
      status: 404,
    });
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

  async function remove({ id, span, notBefore }: Absence): Promise<void> {
    await findings.observe([{ id, filing: null }], span, { notBefore: () => notBefore });
    await missed.forget([id]);
  }

  return {
    async read(ids, isDoubtful = false) {
      if (findings.isOther()) return;
      const sample = isDoubtful ? ids.slice(0, samplesMax) : ids;
      await readAll(sample);
      if (sample.some((id) => missed.get(id) === undefined)) await readAll(ids.slice(sample.length));
    },
    async removeAbsent() {
      const removed = absences;
      absences = [];
      for (let from = 0; from < removed.length; from += removedAtOnce)
        await allEnded(removed.slice(from, from + removedAtOnce).map(remove));
    },
    absent: () => absences.length,
  };
}
