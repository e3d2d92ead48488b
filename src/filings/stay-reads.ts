import type { FilingState } from './detection/filing-state.ts';
import { writePlace } from './detection/age-rank.ts';
import type { FilingListStore } from './lists/filing-list-store.ts';

/** A filing and how it stands. */
export interface Stay {
  readonly id: string;
  readonly state: FilingState;
}

/** A stretch of the filings of one status, in the order of their age. */
export interface StayPage {
  /** Those whose state can be read, the newest first. */
  readonly stays: readonly Stay[];
  /** The `after` of the next, older stretch; null at the end. */
  readonly next: string | null;
}

/** Filings by the time for which they have been in their status. */
export interface StayReads {
  /** Up to `count` filings that came into a status at a time (ms) or before; `next` of that page goes on. */
  enteredBy(account: string, status: string, by: number, count: number): Promise<StayPage>;
  /** The stretch that begins behind `after`. */
  page(account: string, status: string, after: string, count: number): Promise<StayPage>;
  /** See `FilingListStore`. */
  readonly oldest: FilingListStore['oldest'];
}

/** The lists by age. */
export function createStayReads({ walk, oldest }: Pick<FilingListStore, 'walk' | 'oldest'>): StayReads {
  async function page(account: string, status: string, after: string, count: number): Promise<StayPage> {
    const query = { order: 'newest', after, limit: count, readMax: count } as const;
    const { filings, next } = await walk([{ account, status }], query);
    return { stays: filings, next };
  }
  return {
    oldest,
    page,
    enteredBy: (account, status, by, count) =>
      page(account, status, writePlace({ account, status, since: Math.trunc(by), id: '' }), count),
  };
}
