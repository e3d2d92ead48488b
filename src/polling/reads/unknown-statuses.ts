import { isKnownStatus } from '../../partner/filing-statuses.ts';
import { pageSize } from '../../partner/filing-schema.ts';
import { unlessFailed } from '../list/refused-lists.ts';
import type { ReadDeps } from './poll-input.ts';
import type { PollReads } from './poll-reads.ts';

// Maximum number of filings in a status for its list to be read. In a larger status each poll reads a few
// filings.
const listedMax = 300;
const readSinglyMax = 20;

/**
 * Reads the filings in unknown statuses (docs/partner.md#statuses). It is also unknown whether such a status
 * is final, whether the service lists by it, and how many filings gather in it. A poll therefore spends
 * little: it reads the list of each status, or some of the filings where there is no list or a long one.
 * Returns the filings that left their list; they are to be read by themselves.
 */
export async function readUnknownStatuses(
  reads: PollReads,
  { snapshot, random }: ReadDeps,
  counts: Readonly<Record<string, number>>,
): Promise<string[]> {
  const unknown = Object.entries(counts).filter(([status, count]) => count > 0 && !isKnownStatus(status));
  const left: string[] = [];
  for (const [status, count] of unknown) {
    // More than one such status is very rare.
    // oxlint-disable no-await-in-loop
    const before = await snapshot.idsIn(reads.account, status);
    const isListed = count <= listedMax && (await readListOf(reads, status));
    // oxlint-enable no-await-in-loop
    left.push(...(isListed ? before.filter((id) => !reads.shown.has(id)) : sample(before, random)));
  }
  return left;
}

// False when the service cannot list by this status: it refuses, fails, or answers with filings in others.
async function readListOf(reads: PollReads, status: string): Promise<boolean> {
  const first = await unlessFailed(reads.readPage(0, status));
  if (first === null || first.strayed) return false;
  const { total, length } = first;
  if (total === null ? length < pageSize : total <= length) return true;
  const scan = await unlessFailed(reads.readList({ status }));
  return scan !== null && scan.end !== 'broken';
}

function sample(ids: readonly string[], random: () => number): string[] {
  if (ids.length <= readSinglyMax) return [...ids];
  const from = Math.floor(random() * ids.length);
  return [...ids.slice(from), ...ids.slice(0, from)].slice(0, readSinglyMax);
}
