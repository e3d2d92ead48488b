import type { FilingState } from './filing-state.ts';

type Known = readonly [id: string, state: FilingState];

/** Picks the filings that came into their status last, out of parts of the whole list. */
export interface Newest {
  add(part: readonly Known[]): void;
  /** The filings found, the newest first; equally new ones by id. */
  page(): readonly Known[];
  /** Where the page after this one begins; null when there is none. */
  next(): string | null;
}

/**
 * Picks `limit` filings behind `after`, the `next` of the page before. Throws RangeError when `after` is no
 * such text.
 */
export function createNewest(limit: number, after: string | null): Newest {
  const begin = after === null ? null : readPlace(after);
  let found: Known[] = [];
  return {
    add(part) {
      const behind = begin === null ? part : part.filter((known) => compare(begin, known) < 0);
      found = [...found, ...behind].toSorted(compare).slice(0, limit + 1);
    },
    page: () => found.slice(0, limit),
    next() {
      const last = found.length > limit ? found[limit - 1] : undefined;
      return last === undefined ? null : `${last[1].since} ${last[0]}`;
    },
  };
}

type Place = readonly [id: string, state: Pick<FilingState, 'since'>];

function compare([id, { since }]: Place, [otherId, other]: Place): number {
  return other.since - since || (id < otherId ? -1 : id > otherId ? 1 : 0);
}

function readPlace(text: string): Place {
  const [, since, id] = /^(\d{1,15}) ([^]+)$/.exec(text) ?? [];
  if (since === undefined || id === undefined) throw new RangeError('not a place in the list of filings');
  return [id, { since: Number(since) }];
}
