import { folded } from '../../words/folded.ts';
import { type Filing } from './filing.ts';

/** A choice of filings: without an owner those of all owners, without a status those in any. */
interface FilingSelection {
  readonly owner?: string | undefined;
  readonly status?: string | undefined;
  /**
   * Free text, found in the policy number, the names, the endorsement number and the id in any case; empty
   * finds all.
   */
  readonly q?: string | undefined;
}

/** The filings of a selection, newest first by `createdAt` and then by arrival. */
export type FilingView = ReturnType<typeof view>;

/**
 * All filings, in memory: gone when the process ends. Every filing in it is replaced as a whole and never
 * modified.
 */
export type FilingStore = ReturnType<typeof createFilingStore>;

interface FilingRecord {
  readonly createdAtMs: number;
  /** Order of arrival, among filings of the same creation. */
  readonly arrival: number;
  readonly filing: Filing;
}

/** An empty store. */
export function createFilingStore() {
  const byId = new Map<string, FilingRecord>();
  // Each with the oldest first: a page costs its own length, and a change one binary search.
  const lists = new Map<string, FilingRecord[]>();
  let arrivals = 0;

  const list = (key: string): FilingRecord[] => {
    const existing = lists.get(key) ?? [];
    lists.set(key, existing);
    return existing;
  };
  const enter = (record: FilingRecord): void => {
    byId.set(record.filing.id, record);
    for (const key of listsOf(record.filing)) list(key).splice(placeOf(list(key), record), 0, record);
  };
  const leave = (record: FilingRecord): void => {
    byId.delete(record.filing.id);
    for (const key of listsOf(record.filing)) list(key).splice(placeOf(list(key), record), 1);
  };

  return {
    get: (id: string) => byId.get(id)?.filing,
    /**
     * Adds the filing, or takes it for the one with the same id, which keeps its place among those of the
     * same `createdAt`.
     */
    put(filing: Filing): void {
      const known = byId.get(filing.id);
      if (known !== undefined) leave(known);
      enter(toRecord(filing, known?.arrival ?? arrivals++));
    },
    /** Adds many filings whose ids are all new. */
    addMany(filings: readonly Filing[]): void {
      const records = filings.map((filing) => toRecord(filing, arrivals++));
      const changed = new Set<FilingRecord[]>();
      for (const record of records) {
        byId.set(record.filing.id, record);
        for (const key of listsOf(record.filing)) {
          list(key).push(record);
          changed.add(list(key));
        }
      }
      for (const members of changed) members.sort(compare);
    },
    /** False when there was none to remove. */
    remove(id: string): boolean {
      const known = byId.get(id);
      if (known !== undefined) leave(known);
      return known !== undefined;
    },
    clear(): void {
      byId.clear();
      lists.clear();
    },
    /** The present filings of a selection; only a search by text looks at every filing. */
    select({ owner, status, q }: FilingSelection): FilingView {
      const records = lists.get(listKey(owner, status)) ?? [];
      const text = folded((q ?? '').trim());
      return view(text === '' ? records : records.filter(({ filing }) => searchText(filing).includes(text)));
    },
  };
}

function toRecord(filing: Filing, arrival: number): FilingRecord {
  const createdAtMs = Date.parse(filing.createdAt);
  return { filing, arrival, createdAtMs: Number.isNaN(createdAtMs) ? 0 : createdAtMs };
}

// A filing is in four lists, so each selection without text has a list of its own.
function listsOf({ userId, status }: Filing): string[] {
  return [listKey(), listKey(userId), listKey(undefined, status), listKey(userId, status)];
}

function listKey(owner?: string, status?: string): string {
  return JSON.stringify([owner ?? null, status ?? null]);
}

function view(oldestFirst: readonly FilingRecord[]) {
  const { length: size } = oldestFirst;
  return {
    size,
    at: (index: number) => oldestFirst[size - 1 - index]?.filing,
    slice(offset: number, limit: number): Filing[] {
      const end = Math.max(size - offset, 0);
      const page = oldestFirst.slice(Math.max(end - limit, 0), end).toReversed();
      return page.map(({ filing }) => filing);
    },
  };
}

function compare(left: FilingRecord, right: FilingRecord): number {
  return left.createdAtMs - right.createdAtMs || left.arrival - right.arrival;
}

function placeOf(oldestFirst: readonly FilingRecord[], wanted: FilingRecord): number {
  let low = 0;
  let high = oldestFirst.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const probe = oldestFirst[middle];
    if (probe !== undefined && compare(probe, wanted) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function searchText(filing: Filing): string {
  const { policyNumber, insuredsName, carriersName, endorsementNumber, id } = filing;
  return folded([policyNumber, insuredsName, carriersName, endorsementNumber ?? '', id].join('\n'));
}
