import { allEnded } from '../../waiting/all-ended.ts';
import type { PollRun } from './poll-reads.ts';

const pageSize = 100;

/**
 * Reads the first and the last page of the whole list: most services list by age, so what is new stands on
 * one of them. Returns the service's count, null when it gave none.
 */
export async function readEnds(run: PollRun, total: number): Promise<number | null> {
  const [first] = await allEnded([run.readPage(0), run.readPage(Math.max(0, total - pageSize))]);
  return first.total;
}
