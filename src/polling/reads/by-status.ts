import { knownStatuses } from '../../partner/filing-statuses.ts';
import { allEnded } from '../../waiting/all-ended.ts';
import { unlessFailed } from '../list/refused-lists.ts';
import type { ReadDeps } from './poll-input.ts';
import type { PollReads } from './poll-reads.ts';

/**
 * Reads the lists by status, which show what the whole list leaves out behind an offset that the service
 * refuses, or behind a total that is too low. Given the `total` of the whole list, it reads only those whose
 * count differs from what is known. Returns whether each list was read to its end.
 */
export async function readListsByStatus(
  reads: PollReads,
  { snapshot }: Pick<ReadDeps, 'snapshot'>,
  total: number | null | 'all',
): Promise<boolean> {
  const known = await snapshot.counts(reads.account);
  const statuses = [...new Set([...knownStatuses, ...Object.keys(known)])];
  const counts = total === 'all' ? [] : await allEnded(statuses.map((status) => reads.countOf(status)));
  // A service that ignores `status` gives the same count everywhere.
  if (counts.length > 0 && counts.every((count) => count === total)) return true;
  let isWhole = true;
  for (const [i, status] of statuses.entries()) {
    const count = counts[i] ?? null;
    if (total !== 'all' && (count === null || count === (known[status] ?? 0))) continue;
    const scan = await unlessFailed(reads.readList({ status }));
    isWhole &&= scan?.end === 'complete' || scan?.end === 'short';
  }
  return isWhole;
}
