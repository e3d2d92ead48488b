import type { SnapshotStore } from '../filings/snapshot-store.ts';
import type { PollRun } from './poll-run.ts';
import type { PollingMarks } from './polling-store.ts';

// A pass over an unstable order misses about a third of the filings, so a dozen that find nothing new mean that the
// service counts wrongly rather than that something is left (0.37^12 < 10^-5).
const dryPassesMax = 12;
const passesMax = 60;
// After an incomplete listing absence says little: only so many of the unseen are asked for one by one.
const unseenAfterIncompleteMax = 200;

/**
 * Reads everything: the whole list, then each known filing that was not on it. While the account has no baseline,
 * passes are repeated until the known filings number the service's total. Returns the marks this earns.
 */
export async function readEverything(
  run: PollRun,
  snapshot: SnapshotStore,
  marks: PollingMarks,
): Promise<Partial<PollingMarks>> {
  const first = await readOnce(run, snapshot);
  const baselined = marks.baselined || (await completeBaseline(run, snapshot, first));
  return {
    baselined,
    lastSweepAt: first.complete ? run.startedAt : marks.lastSweepAt,
    allSeenAt: first.allSeen ? run.startedAt : marks.allSeenAt,
    bornSeenAt: baselined && first.complete && first.known === first.total ? run.startedAt : marks.bornSeenAt,
  };
}

interface Pass {
  readonly complete: boolean;
  readonly total: number | null;
  readonly known: number;
  readonly allSeen: boolean;
}

async function readOnce(run: PollRun, snapshot: SnapshotStore): Promise<Pass> {
  const { seen, complete, total } = await run.readList();
  const unseen = await unseenIds(run.account, snapshot, seen, complete ? Infinity : unseenAfterIncompleteMax);
  await run.readFilings(unseen);
  const known = await knownFilings(run.account, snapshot);
  return { complete, total, known, allSeen: complete || unseen.length < unseenAfterIncompleteMax };
}

async function completeBaseline(run: PollRun, snapshot: SnapshotStore, first: Pass): Promise<boolean> {
  let pass = first;
  let dry = 0;
  for (let passes = 1; passes < passesMax && dry < dryPassesMax; passes += 1) {
    if (pass.total !== null && pass.known >= pass.total && pass.complete) return true;
    const { known } = pass;
    pass = await readOnce(run, snapshot);
    dry = pass.known > known ? 0 : dry + 1;
  }
  return dry >= dryPassesMax;
}

async function unseenIds(
  account: string,
  snapshot: SnapshotStore,
  seen: ReadonlySet<string>,
  max: number,
): Promise<string[]> {
  const unseen = new Set<string>();
  for await (const chunk of snapshot.scan(account)) {
    for (const [id, state] of chunk) {
      if (!state.removed && !seen.has(id)) unseen.add(id);
      if (unseen.size >= max) return [...unseen];
    }
  }
  return [...unseen];
}

async function knownFilings(account: string, snapshot: SnapshotStore): Promise<number> {
  return Object.values(await snapshot.counts(account)).reduce((sum, count) => sum + count, 0);
}
