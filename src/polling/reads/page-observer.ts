import { detectChange } from '../../filings/detection/detect-change.ts';
import type { Observed } from '../../filings/observe-filings.ts';
import type { Observation } from '../../filings/detection/decide-commit.ts';
import type { SnapshotStore } from '../../filings/snapshot-store.ts';
import { createdAtOf, type PartnerFiling } from '../../partner/filing-schema.ts';
import type { PartnerClient } from '../../partner/partner-client.ts';
import type { ReadSpan } from '../../partner/read-span.ts';
import type { ListGuard } from '../doubt/list-guard.ts';
import type { SeenPage } from '../list/list-scan.ts';
import { oldNewcomers } from '../beliefs/hidden-filings.ts';
import type { PollingMarks } from '../store/marks.ts';
import type { PollingStore } from '../store/polling-store.ts';

/** Compares the pages of one poll with the snapshot. */
export interface PageObserver {
  /**
   * Takes a page of the list in a status, or of the whole one. A filing counts as its first page in this poll
   * shows it; where a later one contradicts that (rows shift while a list is paged, a cache answers), it is
   * read by itself. Returns the number of filings on it that were never seen before.
   */
  observe(seen: SeenPage, status: string | undefined): Promise<number>;
  /** The filing shown last; null when none was. */
  witness(): string | null;
}

export interface PageObserverDeps {
  readonly client: Pick<PartnerClient, 'listFilings'>;
  readonly snapshot: Pick<SnapshotStore, 'read' | 'known'>;
  readonly polling: Pick<PollingStore, 'read'>;
  readonly account: string;
  readonly marks: PollingMarks;
  readonly signal: AbortSignal;
  /**
   * Compares and writes; `announces` says which filings never seen before are new, `holdsBack` whether they
   * are handed back instead.
   */
  readonly commit: (
    observations: readonly Observation[],
    span: ReadSpan,
    announces: (id: string) => boolean,
    holdsBack: (known: number, unknown: number) => boolean,
  ) => Promise<Pick<Observed, 'added' | 'held'>>;
  readonly guard: Pick<ListGuard, 'count' | 'keep' | 'release'>;
  /** Reads filings one by one. */
  readonly readFilings: (ids: readonly string[]) => Promise<void>;
  /** Takes note of records that cannot be read, by id or digest. */
  readonly missUnreadable: (names: readonly string[]) => Promise<void>;
  /** Known filings that were 404 when last asked for. */
  readonly gone: () => number;
}

// What contradicts itself beyond that waits for the next poll.
const settledMax = 100;

/** An observer for one poll. */
export function createPageObserver(deps: PageObserverDeps): PageObserver {
  const { snapshot, account, marks } = deps;
  let settled = 0;
  let witness: string | null = null;
  let lastTurn: Promise<unknown> = Promise.resolve();
  const commits = new Set<Promise<unknown>>();

  async function observe({ page, span, sights }: SeenPage, status: string | undefined): Promise<number> {
    const { first, again } = sights;
    const { total } = page;
    witness = page.filings.at(-1)?.id ?? witness;
    const earlier = [...commits];
    const holdsBack = (known: number, unknown: number) => deps.guard.count(known, unknown, total);
    const added = await underWay(take(first, span, { total, status }, holdsBack));
    await deps.guard.release();
    if (again.length > 0) {
      // What an earlier page has shown is in the snapshot then.
      await Promise.allSettled(earlier);
      await settle(again, span);
    }
    if (page.quarantined.length > 0) await deps.missUnreadable(page.quarantined);
    return added;
  }

  async function underWay<T>(commit: Promise<T>): Promise<T> {
    commits.add(commit);
    try {
      return await commit;
    } finally {
      commits.delete(commit);
    }
  }

  async function take(
    filings: readonly PartnerFiling[],
    span: ReadSpan,
    list: { readonly total: number | null; readonly status: string | undefined },
    holdsBack: (known: number, unknown: number) => boolean,
  ): Promise<number> {
    const old = marks.baselined && marks.hidden > 0 ? await findOld(filings, list.status, list.total) : null;
    const announces = old === null ? () => marks.baselined : (id: string) => !old.has(id);
    const observations = filings.map(toObservation);
    const { added, held } = await deps.commit(observations, span, announces, holdsBack);
    if (held.length > 0) {
      const ids = new Set(held.map(({ id }) => id));
      const kept = filings.filter(({ id }) => ids.has(id));
      deps.guard.keep(kept.length, () => take(kept, span, list, () => false));
    }
    return added;
  }

  async function settle(again: readonly PartnerFiling[], span: ReadSpan): Promise<void> {
    const states = await snapshot.read(
      account,
      again.map(({ id }) => id),
    );
    const contradicted = again.filter((filing, i) => {
      const stored = states[i] ?? null;
      if (stored !== null && stored.known === null) return false;
      const { kind } = detectChange(stored?.known ?? null, filing, span, false);
      return kind === 'change' || kind === 'silent';
    });
    const ids = [...new Set(contradicted.map(({ id }) => id))].slice(0, settledMax - settled);
    settled += ids.length;
    await deps.readFilings(ids);
  }

  async function findOld(
    filings: readonly PartnerFiling[],
    status: string | undefined,
    total: number | null,
  ): Promise<ReadonlySet<string>> {
    const states = await snapshot.read(
      account,
      filings.map(({ id }) => id),
    );
    const unknown = filings.filter((_, i) => states[i] == null);
    if (unknown.length === 0) return new Set();
    const newcomers = unknown.map(({ id, document }) => ({ id, createdAt: createdAtOf(document()) }));
    return oldNewcomers(newcomers, {
      baselinedAt: marks.baselinedAt,
      counted: await countBirths(status === undefined ? total : await countAll()),
    });
  }

  async function countAll(): Promise<number | null> {
    const { page } = await deps.client.listFilings({ offset: 0, limit: 1 }, deps.signal);
    return page.total;
  }

  async function countBirths(total: number | null): Promise<number | null> {
    if (total === null) return null;
    const [known, { hidden }] = await Promise.all([snapshot.known(account), deps.polling.read(account)]);
    return total - (known - deps.gone()) - hidden;
  }

  return {
    witness: () => witness,
    // One page after the other where they are counted, so that no birth counts twice.
    observe(seen, status) {
      if (marks.hidden === 0) return observe(seen, status);
      const turn = () => observe(seen, status);
      const mine = lastTurn.then(turn, turn);
      lastTurn = mine.catch(() => undefined);
      return mine;
    },
  };
}

function toObservation(filing: PartnerFiling): Observation {
  return { id: filing.id, filing };
}
