import { folded } from '../../words/folded.ts';
import { type Filing } from './filing.ts';
import { createSortedRecords, type Position, type SortedRecords } from './sorted-records.ts';

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
export interface FilingView {
  readonly size: number;
  at(index: number): Filing | undefined;
  slice(offset: number, limit: number): Filing[];
}

/**
 * All filings, in memory: gone when the process ends. Every filing in it is replaced as a whole and never
 * modified.
 */
export interface FilingStore {
  get(id: string): Filing | undefined;
  /**
   * Adds the filing, or takes it for the one with the same id, which keeps its place among those of the same
   * `createdAt`.
   */
  put(filing: Filing): void;
  /** Adds many filings whose ids are all new. */
  addMany(filings: readonly Filing[]): void;
  /** False when there was none to remove. */
  remove(id: string): boolean;
  clear(): void;
  /** The present filings of a selection; only a search by text looks at every filing. */
  select(selection: FilingSelection): FilingView;
}

interface FilingRecord extends Position {
  filing: Filing;
  searchText: string | undefined;
}

/** An empty store. */
export function createFilingStore(): FilingStore {
  const byId = new Map<string, FilingRecord>();
  const lists = new Map<string, SortedRecords<FilingRecord>>();
  let arrivals = 0;

  const list = (key: string): SortedRecords<FilingRecord> => {
    const existing = lists.get(key);
    if (existing !== undefined) return existing;
    const created = createSortedRecords<FilingRecord>();
    lists.set(key, created);
    return created;
  };
  const enter = (record: FilingRecord): void => {
    byId.set(record.filing.id, record);
    for (const key of listsOf(record.filing)) list(key).add(record);
  };
  const leave = (record: FilingRecord): void => {
    byId.delete(record.filing.id);
    for (const key of listsOf(record.filing)) list(key).remove(record);
  };

  return {
    get: (id) => byId.get(id)?.filing,
    put(filing) {
      const known = byId.get(filing.id);
      if (known === undefined) enter(toRecord(filing, arrivals++));
      else if (staysInPlace(known.filing, filing)) {
        known.filing = filing;
        known.searchText = undefined;
      } else {
        leave(known);
        enter(toRecord(filing, known.arrival));
      }
    },
    addMany(filings) {
      const records = filings.map((filing) => toRecord(filing, arrivals++));
      for (const record of records) byId.set(record.filing.id, record);
      for (const [key, members] of groupByList(records)) list(key).addMany(members);
    },
    remove(id) {
      const known = byId.get(id);
      if (known !== undefined) leave(known);
      return known !== undefined;
    },
    clear() {
      byId.clear();
      lists.clear();
    },
    select({ owner, status, q }) {
      const records = lists.get(listKey(owner, status)) ?? createSortedRecords<FilingRecord>();
      return view(records, folded((q ?? '').trim()));
    },
  };
}

function toRecord(filing: Filing, arrival: number): FilingRecord {
  const createdAtMs = Date.parse(filing.createdAt);
  return { filing, arrival, createdAtMs: Number.isNaN(createdAtMs) ? 0 : createdAtMs, searchText: undefined };
}

// A filing is in four lists, so each selection without text has a list of its own.
function listsOf({ userId, status }: Filing): string[] {
  return [listKey(), listKey(userId), listKey(undefined, status), listKey(userId, status)];
}

function listKey(owner?: string, status?: string): string {
  return JSON.stringify([owner ?? null, status ?? null]);
}

function staysInPlace(before: Filing, after: Filing): boolean {
  return (
    before.userId === after.userId && before.status === after.status && before.createdAt === after.createdAt
  );
}

function groupByList(records: readonly FilingRecord[]): Map<string, FilingRecord[]> {
  const groups = new Map<string, FilingRecord[]>();
  for (const record of records) {
    for (const key of listsOf(record.filing)) {
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [record]);
      else group.push(record);
    }
  }
  return groups;
}

function view(records: SortedRecords<FilingRecord>, text: string): FilingView {
  if (text !== '') return arrayView(records.matching((record) => matches(record, text)));
  return {
    size: records.size,
    at: (index) => records.at(index)?.filing,
    slice: (offset, limit) => records.newestFirst(offset, limit).map((record) => record.filing),
  };
}

function arrayView(records: readonly FilingRecord[]): FilingView {
  return {
    size: records.length,
    at: (index) => records[index]?.filing,
    slice: (offset, limit) => records.slice(offset, offset + limit).map((record) => record.filing),
  };
}

function matches(record: FilingRecord, text: string): boolean {
  record.searchText ??= searchText(record.filing);
  return record.searchText.includes(text);
}

function searchText(filing: Filing): string {
  const { policyNumber, insuredsName, carriersName, endorsementNumber, id } = filing;
  return folded([policyNumber, insuredsName, carriersName, endorsementNumber ?? '', id].join('\n'));
}
