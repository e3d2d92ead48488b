import type { SnapshotStore } from '../../filings/snapshot-store.ts';
import { consequence, PartnerError } from '../../partner/partner-error.ts';
import { isKnownStatus } from '../../partner/filing-statuses.ts';
import type { PollRun } from './poll-reads.ts';

// A status with more filings is left to the sweeps, but for a few of them in each poll.
const listedMax = 300;
const readSinglyMax = 20;
const pageSize = 100;

/**
 * Looks after the filings in statuses that the partner specification does not name. Nobody knows whether
 * these are final, whether the service lists by them, or how many filings gather in them, so a poll spends
 * little: the list of each, or where there is none to be had, or a long one, some of its filings. Returns
 * those that left their list; they are to be read by themselves.
 */
export async function readStrange(
  run: PollRun,
  snapshot: SnapshotStore,
  counts: Readonly<Record<string, number>>,
  random: () => number,
): Promise<string[]> {
  const strange = Object.entries(counts).filter(([status, count]) => count > 0 && !isKnownStatus(status));
  const left: string[] = [];
  for (const [status, count] of strange) {
    // There are hardly ever any, let alone two.
    // oxlint-disable no-await-in-loop
    const before = await snapshot.idsIn(run.account, status);
    const isListed = count <= listedMax && (await readStrangeList(run, status));
    // oxlint-enable no-await-in-loop
    left.push(...(isListed ? before.filter((id) => !run.shown.has(id)) : sample(before, random)));
  }
  return left;
}

// False when the service cannot list by this status: it refuses, fails, or answers with filings in others.
async function readStrangeList(run: PollRun, status: string): Promise<boolean> {
  try {
    const { length, total, strayed } = await run.readPage(0, status);
    if (strayed) return false;
    if (length < pageSize && (total ?? length) <= length) return true;
    return (await run.readList({ status, trust: { atLeast: 0, afterFullPage: 'always' } })).end !== 'broken';
  } catch (error) {
    if (error instanceof PartnerError && consequence(error, 'list') === 'left_out') return false;
    throw error;
  }
}

function sample(ids: readonly string[], random: () => number): string[] {
  if (ids.length <= readSinglyMax) return [...ids];
  const from = Math.floor(random() * ids.length);
  return [...ids.slice(from), ...ids.slice(0, from)].slice(0, readSinglyMax);
}
