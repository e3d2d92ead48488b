import type { Observation } from '../../filings/detection/decide-commit.ts';
import type { ReadSpan } from '../../partner/read-span.ts';
import { allEnded } from '../../waiting/all-ended.ts';
import type { MissedRead } from '../beliefs/missed-reads.ts';
import type { ListGuard } from './list-guard.ts';

/** A known filing that answered 404 on two polls, with the span of the second read. */
export interface Absence {
  readonly id: string;
  readonly span: ReadSpan;
  /**
   * Latest time (ms, Redis's clock) before the first 404 at which it is known to have been as stored. A list
   * of the same poll may show it again before it is removed.
   */
  readonly notBefore: number;
}

/** Reads filings one by one. */
export interface SingleReads {
  /**
   * Requests each filing that is due. A filing that cannot be read is counted, and the others go on. Several
   * such failures in a row reject with the last PartnerError, as does a refusal of the whole account.
   */
  read(ids: readonly string[]): Promise<void>;
  /** Filings whose second 404 was read since the last call. */
  collectAbsences(): readonly Absence[];
}

/** Reads filings by themselves, and removes the absent ones, as far as the poll's lists are believed. */
export interface CarefulReads {
  /**
   * Reads filings one by one. Filings that may no longer be the account's (its lists are doubted, or too many
   * answer 404 already) are sampled: a few are requested, and the others only when one of these exists.
   */
  read(ids: readonly string[]): Promise<void>;
  /**
   * Removes the filings that answered 404 on two polls. If the removal is doubted, they stay on record as
   * missed.
   */
  removeAbsent(): Promise<void>;
}

export interface CarefulReadsParts {
  readonly reader: SingleReads;
  readonly guard: Pick<ListGuard, 'isClosed' | 'isListDoubted' | 'holdsRemovals'>;
  readonly missed: {
    get(id: string): MissedRead | undefined;
    forget(ids: readonly string[]): Promise<void>;
  };
  readonly observer: {
    observe(
      observations: readonly Observation[],
      span: ReadSpan,
      rules: { readonly notBefore: () => number },
    ): Promise<unknown>;
  };
}

// Maximum number of sampled filings that are requested without success in one poll.
const samplesMax = 20;
const removedAtOnce = 8;

/** The reads of one poll; `isHeldBack` says whether an earlier poll's findings are still held back. */
export function createCarefulReads(
  { random }: { readonly random: () => number },
  { isHeldBack }: { readonly isHeldBack: boolean },
  { reader, guard, missed, observer }: CarefulReadsParts,
): CarefulReads {
  function isSuspect(id: string): boolean {
    return guard.isListDoubted() || (isHeldBack && missed.get(id)?.gone === true);
  }

  async function remove({ id, span, notBefore }: Absence): Promise<void> {
    await observer.observe([{ id, filing: null }], span, { notBefore: () => notBefore });
    await missed.forget([id]);
  }

  return {
    async read(ids) {
      if (guard.isClosed()) return;
      const suspects = ids.filter(isSuspect);
      if (suspects.length <= samplesMax) return reader.read(ids);
      const from = Math.floor(random() * suspects.length);
      const turned = [...suspects.slice(from), ...suspects.slice(0, from)];
      const sample = turned.slice(0, samplesMax);
      await reader.read([...ids.filter((id) => !isSuspect(id)), ...sample]);
      if (sample.some((id) => missed.get(id) === undefined)) await reader.read(turned.slice(samplesMax));
    },
    async removeAbsent() {
      const absences = reader.collectAbsences();
      if (guard.holdsRemovals()) return;
      for (let from = 0; from < absences.length; from += removedAtOnce)
        await allEnded(absences.slice(from, from + removedAtOnce).map(remove));
    },
  };
}
