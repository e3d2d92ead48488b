import type { FilingStore } from '../filings/filing-store.ts';
import type { Random } from '../random.ts';
import { sampleId } from './sample-filings.ts';

/** A new filing id that no filing has; a seeded source may draw one a second time. */
export function unusedId(store: Pick<FilingStore, 'get'>, random: Random): string {
  let id = sampleId(random);
  while (store.get(id) !== undefined) id = sampleId(random);
  return id;
}
