import { createBoundedMap } from '../../../memory/bounded-map.ts';
import { failureOf } from '../../../redis/unreadable-record.ts';
import type { IndexMender } from '../../../subscriptions/public-keys/mend-index.ts';

// Milliseconds between two looks of this process at an account.
const lookAgainMs = 3_600_000;
// Maximum number of accounts whose last look is remembered, about a hundred bytes each.
const rememberedMax = 100_000;

/**
 * Puts an account's subscriptions with public keys back into the index that lost them: with the first call,
 * and with one every hour. `now` is monotonic, in milliseconds. An unreadable record is skipped: the polls of
 * its account report it.
 */
export function createDueMends(
  mender: Pick<IndexMender, 'addMissing'>,
  now: () => number,
): (account: string) => Promise<void> {
  const lookedAt = createBoundedMap<string, number>(rememberedMax);
  return async (account) => {
    const at = now();
    if (at < (lookedAt.get(account) ?? -Infinity) + lookAgainMs) return;
    lookedAt.set(account, at);
    await failureOf(() => mender.addMissing(account));
  };
}
