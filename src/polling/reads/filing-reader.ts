import type { PartnerClient } from '../../partner/partner-client.ts';
import { aboutFilings, consequence, PartnerError } from '../../partner/partner-error.ts';
import { allEnded } from '../../waiting/all-ended.ts';
import { isRetryDue, isSecondAbsence, missedByAbsence, missedByFailure } from '../beliefs/missed-reads.ts';
import type { Absence, SingleReads } from '../doubt/careful-reads.ts';
import type { ListGuard } from '../doubt/list-guard.ts';
import type { ReadSpan } from '../../partner/read-span.ts';
import type { MissedRecord } from './missed-record.ts';
import type { Observer } from './observer.ts';
import type { PollInput } from './poll-input.ts';
import type { Tally } from './tally.ts';

/** Reads filings one by one, and keeps record of those that cannot be read. */
export interface FilingReader extends SingleReads {
  /** Number of filings that `collectAbsences` would return. */
  absent(): number;
}

export interface FilingReaderDeps {
  readonly client: Pick<PartnerClient, 'getFiling' | 'checkAccount'>;
  readonly now: () => number;
}

export interface FilingReaderParts {
  readonly observer: Observer;
  readonly missed: MissedRecord;
  readonly guard: Pick<ListGuard, 'noteAccount'>;
  readonly tally: Tally;
}

// Maximum number of filings requested side by side.
const readsAtOnce = 8;
const failuresInARowMax = 5;

/** A reader for one poll. */
export function createFilingReader(
  { client, now }: FilingReaderDeps,
  { account: { pollIntervalMs }, startedAt, signal, inBetween }: PollInput,
  { observer, missed, guard, tally }: FilingReaderParts,
): FilingReader {
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
      else await observer.observe([{ id, filing }], span);
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
    guard.noteAccount(await client.checkAccount(signal));
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

  return {
    async read(ids) {
      const queue = ids.values();
      let broken = false;
      const work = async () => {
        for (const id of queue) {
          if (broken) return;
          await inBetween.pollIfDue();
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
    },
    absent: () => absences.length,
    collectAbsences() {
      const removed = absences;
      absences = [];
      return removed;
    },
  };
}
