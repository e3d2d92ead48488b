import type { Observation } from '../../filings/detection/decide-commit.ts';
import type { ReadSpan } from '../../partner/read-span.ts';
import type { PartnerClient } from '../../partner/partner-client.ts';
import { consequence, PartnerError } from '../../partner/partner-error.ts';
import { allEnded } from '../../waiting/all-ended.ts';
import {
  isRetryDue,
  isSecondAbsence,
  missByAbsence,
  missByFailure,
  type Miss,
} from '../beliefs/missed-reads.ts';
import type { PollRunInput } from './poll-reads.ts';

/** Reads filings one by one, and keeps record of those that cannot be read. */
export interface FilingReader {
  /**
   * Asks for each filing that is not to be left alone yet. One that cannot be read is counted and the others
   * go on; several in a row reject with the last PartnerError, as does a refusal of the whole account.
   */
  read(ids: readonly string[]): Promise<void>;
  /** Number of filings that `takeAbsences` would return. */
  absent(): number;
  /** Filings whose second 404 was read since this was last called, with the span of that read. */
  takeAbsences(): readonly Absence[];
  /** Filings that could not be read so far, those left alone included. */
  unread(): number;
  failure(): PartnerError | null;
}

/** A known filing that answered 404 on two polls. */
export interface Absence {
  readonly id: string;
  readonly span: ReadSpan;
}

export interface FilingReaderDeps {
  readonly client: PartnerClient;
  readonly input: PollRunInput;
  readonly now: () => number;
  readonly observe: (observations: readonly Observation[], span: ReadSpan) => Promise<unknown>;
  readonly remember: (id: string, miss: Miss) => Promise<void>;
  readonly forget: (ids: readonly string[]) => Promise<void>;
  /**
   * Latest time at which a filing is known to have been as stored; null for one that is not known, or
   * removed.
   */
  readonly knownUntil: (id: string) => Promise<number | null>;
  /** A filing that a list has shown in this poll; null when none has. */
  readonly witness: () => string | null;
  /** Told what `GET /partner/me` named where it vouches for absences. */
  readonly noteAccount: (digest: string | null) => void;
}

const readsAtOnce = 8;
const failuresInARowMax = 5;

/** A reader for one poll. */
export function createFilingReader(deps: FilingReaderDeps): FilingReader {
  const { client, input, now } = deps;
  const { misses, signal, startedAt } = input;
  let unread = 0;
  let failuresInARow = 0;
  let failure: PartnerError | null = null;
  let vouched: Promise<void> | undefined;
  let absences: Absence[] = [];

  async function readOne(id: string): Promise<void> {
    const miss = misses.get(id);
    if (miss !== undefined && !isRetryDue(miss, now())) {
      unread += 1;
      return;
    }
    try {
      const { filing, span } = await client.getFiling(id, signal);
      failuresInARow = 0;
      if (filing === null) await takeAbsence(id, span);
      else await deps.observe([{ id, filing }], span);
    } catch (error) {
      await takeFailure(id, error);
    }
  }

  async function takeAbsence(id: string, span: ReadSpan): Promise<void> {
    const knownUntil = await deps.knownUntil(id);
    const before = misses.get(id);
    // Removed by somebody else meanwhile.
    if (knownUntil === null) return deps.forget([id]);
    if (!isSecondAbsence(before, startedAt))
      return deps.remember(id, missByAbsence(before, span.end, knownUntil));
    vouched ??= vouchForAbsences();
    await vouched;
    absences.push({ id, span });
  }

  // A service that knows neither the account nor what it has just listed says nothing by its 404.
  async function vouchForAbsences(): Promise<void> {
    deps.noteAccount(await client.checkAccount(signal));
    const witness = deps.witness();
    if (witness === null || (await client.getFiling(witness, signal)).filing !== null) return;
    throw new PartnerError('invalid_response', 'GET filing answers 404 for what a list has shown', {
      status: 404,
    });
  }

  async function takeFailure(id: string, error: unknown): Promise<void> {
    if (!(error instanceof PartnerError) || consequence(error, 'filing') === 'poll_ends') throw error;
    failure = error;
    unread += 1;
    failuresInARow += 1;
    const knownUntil = await deps.knownUntil(id);
    const { pollIntervalMs } = input.account;
    if (knownUntil !== null)
      await deps.remember(id, missByFailure(misses.get(id), now(), knownUntil, pollIntervalMs));
    if (failuresInARow >= failuresInARowMax) throw aboutFilings(error);
  }

  return {
    async read(ids) {
      const queue = ids.values();
      let broken = false;
      const work = async () => {
        for (const id of queue) {
          if (broken) return;
          await input.interlude()?.();
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
    takeAbsences() {
      const taken = absences;
      absences = [];
      return taken;
    },
    unread: () => unread,
    failure: () => failure,
  };
}

// A refusal of filings alone must not count as a refusal of the account's key.
function aboutFilings(error: PartnerError): PartnerError {
  return error.kind === 'auth' ? new PartnerError('unexpected_status', error.message, error) : error;
}
