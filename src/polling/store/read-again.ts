import { missByDoubt } from '../beliefs/missed-reads.ts';
import type { PollingStore } from './polling-store.ts';

/**
 * Has filings read one by one by the next poll, in whatever status they are. Rejects with SnapshotLostError
 * when the generation is another.
 */
export async function readAgain(
  { polling, now }: { readonly polling: Pick<PollingStore, 'setMiss'>; readonly now: () => number },
  account: string,
  generation: string,
  ids: readonly string[],
): Promise<void> {
  for (const id of ids) {
    // Few, and after a failover only.
    // oxlint-disable-next-line no-await-in-loop
    await polling.setMiss(account, generation, id, missByDoubt(now()));
  }
}
