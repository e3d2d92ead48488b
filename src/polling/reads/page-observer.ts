import { detectChange } from '../../filings/detection/detect-change.ts';
import type { HeldBack, SeenFilings } from '../../filings/observe-filings.ts';
import { createdAtOf, type PartnerFiling } from '../../partner/filing-schema.ts';
import type { ReadSpan } from '../../partner/read-span.ts';
import { hiddenFilings } from '../beliefs/hidden-filings.ts';
import type { ListGuard } from '../doubt/list-guard.ts';
import { unlessFailed } from '../list/refused-lists.ts';
import type { ShownPage } from '../list/repeated-rows.ts';
import type { FilingReader } from './filing-reader.ts';
import type { MissedRecord } from './missed-record.ts';
import type { Observer } from './observer.ts';
import type { PollInput, ReadDeps } from './poll-input.ts';
import type { Tally } from './tally.ts';

/** Compares the pages of one poll with the snapshot. */
export interface PageObserver {
  /**
   * Observes a page of the list in a status, or of the whole list. A filing counts as the first page in this
   * poll shows it. Where a later page contradicts the first (rows shift while a list is paged, a cache
   * answers), the filing is read by itself. Returns the number of filings on the page that were never seen
   * before.
   */
  observe(shown: ShownPage, status: string | undefined): Promise<number>;
}

export interface PageObserverParts {
  readonly observer: Observer;
  readonly guard: Pick<ListGuard, 'count' | 'holds' | 'keep' | 'release'>;
  readonly reader: Pick<FilingReader, 'read'>;
  readonly missed: MissedRecord;
  readonly tally: Tally;
}

/** The request that showed filings. */
interface ShownBy {
  readonly span: ReadSpan;
  readonly status: string | undefined;
  readonly total: number | null;
  readonly bytes: number;
}

// Maximum number of contradictions that one poll settles; the others wait for the next poll.
const settledMax = 100;

/** An observer of one poll's pages. */
export function createPageObserver(
  deps: Pick<ReadDeps, 'client' | 'snapshot' | 'polling'>,
  { account: { account }, marks, signal }: PollInput,
  { observer, guard, reader, missed, tally }: PageObserverParts,
): PageObserver {
  const { snapshot } = deps;
  let settled = 0;
  let lastTurn: Promise<unknown> = Promise.resolve();
  const commits = new Set<Promise<unknown>>();

  async function observe(
    { page, bytes, span, rows }: ShownPage,
    status: string | undefined,
  ): Promise<number> {
    const { total } = page;
    tally.listedFiling = page.filings.at(-1)?.id ?? tally.listedFiling;
    const earlier = [...commits];
    const holdsBack = (seen: SeenFilings) => guard.count(seen, total);
    const added = await underWay(commit(rows.firstShown, { span, status, total, bytes }, holdsBack));
    await guard.release();
    if (rows.repeated.length > 0) {
      // The snapshot has to hold the filings of earlier pages by then.
      await Promise.allSettled(earlier);
      await settle(rows.repeated, span);
    }
    if (page.quarantined.length > 0) await missed.rememberUnreadable(page.quarantined);
    return added;
  }

  async function underWay<T>(work: Promise<T>): Promise<T> {
    commits.add(work);
    try {
      return await work;
    } finally {
      commits.delete(work);
    }
  }

  async function commit(
    filings: readonly PartnerFiling[],
    shownBy: ShownBy,
    holdsBack: (seen: SeenFilings) => HeldBack,
  ): Promise<number> {
    const hidden = marks.baselined && marks.hidden > 0 ? await findHidden(filings, shownBy) : null;
    const announces = (id: string) => (hidden === null ? marks.baselined : !hidden.has(id));
    const observations = filings.map((filing) => ({ id: filing.id, filing }));
    const { added, held } = await observer.observe(observations, shownBy.span, { announces, holdsBack });
    if (held.length > 0) {
      const ids = new Set(held.map(({ id }) => id));
      const kept = filings.filter(({ id }) => ids.has(id));
      guard.keep(kept.length, shownBy.bytes, () => commit(kept, shownBy, guard.holds));
    }
    return added;
  }

  async function settle(repeated: readonly PartnerFiling[], span: ReadSpan): Promise<void> {
    const states = await snapshot.read(account, idsOf(repeated));
    const contradicted = repeated.filter((filing, i) => {
      const { kind } = detectChange(states[i]?.state ?? null, filing, span, false);
      return kind === 'change' || kind === 'silent';
    });
    const ids = [...new Set(idsOf(contradicted))].slice(0, settledMax - settled);
    settled += ids.length;
    await reader.read(ids);
  }

  async function findHidden(
    filings: readonly PartnerFiling[],
    { status, total }: ShownBy,
  ): Promise<ReadonlySet<string>> {
    const states = await snapshot.read(account, idsOf(filings));
    const unknown = filings.filter((_, i) => states[i] == null);
    if (unknown.length === 0) return new Set();
    const dated = unknown.map((filing) => ({ id: filing.id, createdAt: createdAtOf(filing) }));
    const counted = await countBirths(
      status === undefined ? total : await unlessFailed(deps.client.countFilings(signal)),
    );
    return hiddenFilings(dated, { baselinedAt: marks.baselinedAt, counted });
  }

  async function countBirths(total: number | null): Promise<number | null> {
    if (total === null) return null;
    const [known, { hidden }] = await Promise.all([snapshot.known(account), deps.polling.read(account)]);
    return total - (known - missed.gone()) - hidden;
  }

  return {
    // Where new filings are counted, pages are observed one after the other, so that no filing counts twice.
    observe(shown, status) {
      if (marks.hidden === 0) return observe(shown, status);
      const turn = () => observe(shown, status);
      const mine = lastTurn.then(turn, turn);
      lastTurn = mine.catch(() => undefined);
      return mine;
    },
  };
}

function idsOf(filings: readonly PartnerFiling[]): string[] {
  return filings.map(({ id }) => id);
}
