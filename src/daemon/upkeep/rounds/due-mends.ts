import { createBoundedMap } from '../../../memory/bounded-map.ts';
import { failureOf } from '../../../redis/unreadable-record.ts';

/** What is mended of an account in an index over all accounts. */
export interface Mend {
  /** Milliseconds between two looks of this process at an account. */
  readonly everyMs: number;
  readonly look: (account: string) => Promise<unknown>;
}

// Maximum number of accounts whose last look is remembered, about a hundred bytes each.
const rememberedMax = 100_000;

/**
 * Puts right what indexes over all accounts have lost of an account, or have too much: with the first call,
 * and again after `everyMs`. `now` is monotonic, in milliseconds. An unreadable record is skipped: the polls
 * of its account report it.
 */
export function createDueMends(
  mends: readonly Mend[],
  now: () => number,
): (account: string) => Promise<void> {
  const all = mends.map((mend) => ({ ...mend, lookedAt: createBoundedMap<string, number>(rememberedMax) }));
  return async (account) => {
    const at = now();
    for (const { everyMs, look, lookedAt } of all) {
      if (at < (lookedAt.get(account) ?? -Infinity) + everyMs) continue;
      lookedAt.set(account, at);
      await failureOf(() => look(account));
    }
  };
}
