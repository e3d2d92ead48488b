import { allEnded } from '../../waiting/all-ended.ts';
import type { PollRun } from './poll-reads.ts';
import { unlessRefused } from '../list/refused-lists.ts';

// Fewer than this are read one by one without further thought.
const readSinglyMax = 3;
// A page of a settled list that shows this many of them has been worth its request.
const foundPerPageMin = 2;
const pagesMax = 50;
// Below this many filings in the account a sweep is not thought of as dear.
const sweepReadsMin = 200;

/**
 * Reads the filings that left the unsettled lists: the newest pages of the settled lists first, as long as
 * they show some, then the rest one by one. A false alarm costs a request, never an event. False when a sweep
 * would be cheaper.
 */
export async function readVanished(run: PollRun, vanished: readonly string[]): Promise<boolean> {
  const left = new Set(vanished);
  if (left.size > readSinglyMax) {
    await allEnded([findOnNewestPages(run, 'COMPLETED', left), findOnNewestPages(run, 'REJECTED', left)]);
  }
  if (left.size > sweepReadsMin && left.size > (await run.known()) / 100) return false;
  await run.readFilings([...left]);
  return true;
}

async function findOnNewestPages(run: PollRun, status: string, left: Set<string>): Promise<void> {
  let offset = 0;
  for (let page = 0; page < pagesMax && left.size > readSinglyMax; page += 1) {
    const read = await unlessRefused(run.readPage(offset, status));
    if (read === null) return;
    const found = read.ids.filter((id) => left.delete(id)).length;
    if (found < foundPerPageMin) return;
    offset += read.length;
  }
}
