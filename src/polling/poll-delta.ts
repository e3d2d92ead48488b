import type { SnapshotStore } from '../filings/snapshot-store.ts';
import type { PollRun } from './poll-run.ts';
import { isUnsettled } from './plan-poll.ts';
import type { PollingMarks } from './polling-store.ts';

// More vanished filings than this are looked for on the newest pages of the settled lists first.
const vanishedReadSingly = 3;
const newestPagesMax = 5;

/**
 * Differences between the service's counts and ours that the last delta poll met, each as text, with the number of
 * polls in a row that met it. Something is done about a difference at its second sight: the first may be a change
 * between two requests, and what a list could not explain once it will not explain later either.
 */
export type Mismatches = Map<string, number>;

/**
 * Reads what may have changed since the last poll: the unsettled lists, the filings that left them, and probes that
 * tell whether anything settled moved. Returns the marks this earns, or 'sweep' when only a sweep can tell.
 */
export async function readDelta(
  run: PollRun,
  snapshot: SnapshotStore,
  marks: PollingMarks,
  lists: readonly string[],
  mismatches: Mismatches,
): Promise<Partial<PollingMarks> | 'sweep'> {
  const before = await unsettledIds(run.account, snapshot);
  const seen = new Set<string>();
  for (const status of lists) for (const id of (await run.readList(status)).seen) seen.add(id);
  await readVanished(
    run,
    before.filter((id) => !seen.has(id)),
  );
  const differences = [
    ...(await findBornSettled(run, snapshot)),
    ...(await settledDifferences(run, snapshot)),
  ];
  const persisting = noteDifferences(mismatches, differences);
  if (persisting.some(({ status }) => status === undefined)) return 'sweep';
  // What moved between the two settled lists stands in both differences; the shorter list tells.
  const shortest = persisting.toSorted((a, b) => a.total - b.total).at(0);
  if (shortest?.status !== undefined) await readSettledList(run, snapshot, shortest.status);
  return {
    unsettledSeenAt: run.startedAt,
    bornSeenAt: differences.length === 0 ? run.startedAt : marks.bornSeenAt,
  };
}

interface Difference {
  /** Undefined for the unfiltered list. */
  readonly status: string | undefined;
  readonly total: number;
  readonly known: number;
}

function noteDifferences(mismatches: Mismatches, differences: readonly Difference[]): Difference[] {
  const text = ({ status, total, known }: Difference) => `${status ?? ''} ${total} ${known}`;
  const times = new Map(
    differences.map((difference) => [text(difference), (mismatches.get(text(difference)) ?? 0) + 1]),
  );
  mismatches.clear();
  for (const [key, count] of times) mismatches.set(key, count);
  return differences.filter((difference) => times.get(text(difference)) === 2);
}

async function unsettledIds(account: string, snapshot: SnapshotStore): Promise<string[]> {
  const statuses = Object.keys(await snapshot.counts(account)).filter(isUnsettled);
  return (await Promise.all(statuses.map((status) => snapshot.idsIn(account, status)))).flat();
}

// Every filing that left its list is read, whatever the lists looked like: a false alarm costs a request, no event.
async function readVanished(run: PollRun, vanished: readonly string[]): Promise<void> {
  let left = vanished;
  if (left.length > vanishedReadSingly) {
    const pages = await Promise.all([run.readFirstPage(0, 'COMPLETED'), run.readFirstPage(0, 'REJECTED')]);
    const found = new Set(pages.flatMap(({ ids }) => ids));
    left = left.filter((id) => !found.has(id));
  }
  await run.readFilings(left);
}

// More filings at the service than known: one was born settled. It is looked for on the newest pages.
async function findBornSettled(run: PollRun, snapshot: SnapshotStore): Promise<Difference[]> {
  let total = await run.countOf();
  let known = await knownFilings(run.account, snapshot);
  let offset = 0;
  for (let page = 0; page < newestPagesMax && total !== null && total > known; page += 1) {
    const read = await run.readFirstPage(offset);
    total = read.total ?? total;
    offset += read.ids.length;
    known = await knownFilings(run.account, snapshot);
  }
  return total === null || total === known ? [] : [{ status: undefined, total, known }];
}

async function settledDifferences(run: PollRun, snapshot: SnapshotStore): Promise<Difference[]> {
  const counts = await snapshot.counts(run.account);
  const statuses = ['COMPLETED', 'REJECTED'];
  const totals = await Promise.all(statuses.map((status) => run.countOf(status)));
  return statuses.flatMap((status, i) => {
    const total = totals[i] ?? null;
    const known = counts[status] ?? 0;
    return total === null || total === known ? [] : [{ status, total, known }];
  });
}

async function readSettledList(run: PollRun, snapshot: SnapshotStore, status: string): Promise<void> {
  const before = status === 'COMPLETED' ? [] : await snapshot.idsIn(run.account, status);
  const { seen } = await run.readList(status);
  await run.readFilings(before.filter((id) => !seen.has(id)));
}

async function knownFilings(account: string, snapshot: SnapshotStore): Promise<number> {
  return Object.values(await snapshot.counts(account)).reduce((sum, count) => sum + count, 0);
}
