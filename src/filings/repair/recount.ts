import type { RedisClient } from '../../redis/connection/connect.ts';
import type { Keys } from '../../redis/keys.ts';
import { loadScript } from '../../redis/scripts.ts';
import { indexStatus } from '../commit/filing-commit.ts';
import type { FilingState } from '../detection/filing-state.ts';

/** The filings of an account in chunks; an id may come twice. */
export type Scan = (account: string) => AsyncIterable<(readonly [id: string, state: () => FilingState])[]>;

const triesMax = 3;

/**
 * Counts an account's filings by status anew, from their states, and corrects the stored counts. Gives up
 * where other processes keep writing.
 */
export function createRecount(
  redis: RedisClient,
  keys: Keys,
  scan: Scan,
): (account: string) => Promise<void> {
  const script = loadScript(new URL('recount.lua', import.meta.url));

  async function tally(account: string, statuses: readonly string[]): Promise<Map<string, number> | null> {
    const counted = new Map(statuses.map((status) => [status, 0]));
    let seen = 0;
    for await (const chunk of scan(account))
      for (const [, state] of chunk) {
        seen += 1;
        const status = indexStatus(state());
        if (status !== '') counted.set(status, (counted.get(status) ?? 0) + 1);
      }
    // A scan may show a filing twice while the hash grows or shrinks.
    return seen === (await redis.hlen(keys.account(account).filings)) ? counted : null;
  }

  return async (account) => {
    const { counts } = keys.account(account);
    for (let tries = 0; tries < triesMax; tries += 1) {
      // Begins anew where other processes have written meanwhile.
      const before = await redis.hgetall(counts);
      const counted = await tally(account, Object.keys(before));
      if (counted === null) continue;
      const now = [...counted].map(([status, count]) => [status, String(count)] as const);
      if (now.every(([status, count]) => before[status] === count)) return;
      const found = Object.entries(before).flat();
      if ((await script.run(redis, [counts], [found.length, ...found, ...now.flat()])) === 1) return;
    }
  };
}
