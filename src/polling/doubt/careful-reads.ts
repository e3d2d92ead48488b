import type { Observation } from '../../filings/detection/decide-commit.ts';
import type { ReadSpan } from '../../partner/read-span.ts';
import { allEnded } from '../../waiting/all-ended.ts';
import type { Absence, FilingReader } from '../reads/filing-reader.ts';
import type { ListGuard } from './list-guard.ts';
import type { Miss } from '../beliefs/missed-reads.ts';

/** Reads filings by themselves, and removes those that are gone, as far as the poll's lists are believed. */
export interface CarefulReads {
  /**
   * Reads filings one by one. Of those that need not be the account's to ask for any more (its lists are
   * doubted, or too many answer 404 already) a few are asked for, and the others only when one of them
   * answers.
   */
  read(ids: readonly string[]): Promise<void>;
  /**
   * Removes the filings that answered 404 on two polls, unless that is doubted: then they stay on record as
   * missed.
   */
  removeAbsent(): Promise<void>;
}

export interface CarefulReadsDeps {
  readonly reader: FilingReader;
  readonly guard: ListGuard;
  readonly misses: ReadonlyMap<string, Miss>;
  /** Whether an earlier poll's findings are held back yet. */
  readonly isHeldBack: boolean;
  readonly random: () => number;
  readonly observe: (observations: readonly Observation[], span: ReadSpan) => Promise<unknown>;
  readonly forget: (ids: readonly string[]) => Promise<void>;
}

// Maximum number of such filings asked for in vain in one poll.
const samplesMax = 20;
const removedAtOnce = 8;

/** The reads of one poll. */
export function createCarefulReads(deps: CarefulReadsDeps): CarefulReads {
  const { reader, guard, misses } = deps;

  function isSuspect(id: string): boolean {
    return guard.isListDoubted() || (deps.isHeldBack && misses.get(id)?.gone === true);
  }

  async function remove({ id, span }: Absence): Promise<void> {
    await deps.observe([{ id, filing: null }], span);
    await deps.forget([id]);
  }

  return {
    async read(ids) {
      if (guard.isClosed()) return;
      const suspects = ids.filter(isSuspect);
      if (suspects.length <= samplesMax) return reader.read(ids);
      const from = Math.floor(deps.random() * suspects.length);
      const turned = [...suspects.slice(from), ...suspects.slice(0, from)];
      const sample = turned.slice(0, samplesMax);
      await reader.read([...ids.filter((id) => !isSuspect(id)), ...sample]);
      if (sample.some((id) => !misses.has(id))) await reader.read(turned.slice(samplesMax));
    },
    async removeAbsent() {
      const absences = reader.takeAbsences();
      if (guard.holdsRemovals()) return;
      for (let from = 0; from < absences.length; from += removedAtOnce)
        // oxlint-disable-next-line no-await-in-loop
        await allEnded(absences.slice(from, from + removedAtOnce).map(remove));
    },
  };
}
