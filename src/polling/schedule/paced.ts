import { createBoundedMap } from '../../memory/bounded-map.ts';

// Maximum number of accounts whose last call is remembered; others may be called more often.
const rememberedMax = 100_000;

/** Calls `work` for an account unless the last call for it began less than `everyMs` ago and did not fail. */
export function createPaced(
  everyMs: number,
  work: (account: string) => Promise<unknown>,
): (account: string) => Promise<void> {
  // On the monotonic clock.
  const begunAt = createBoundedMap<string, number>(rememberedMax);
  return async (account) => {
    const now = performance.now();
    const last = begunAt.get(account);
    if (last !== undefined && now - last < everyMs) return;
    begunAt.set(account, now);
    try {
      await work(account);
    } catch (error) {
      begunAt.delete(account);
      throw error;
    }
  };
}
