/** Which accounts or subscriptions have series of their own: all, or those that need a person most. */
export type Named = 'all' | 'worst';

/** `METRICS_PER_ACCOUNT`. */
export type PerAccount = 'auto' | 'true' | 'false';

/** Maximum number of accounts that all have series of their own under `auto`. */
export const accountsNamedMax = 100;
/** Maximum number of subscriptions, over all accounts, that all have series of their own under `auto`. */
export const subscriptionsNamedMax = 1_000;

/**
 * Whether all accounts and all subscriptions have series of their own, by their numbers; pure. Subscriptions
 * have them only where accounts have.
 */
export function whoIsNamed(
  setting: PerAccount,
  accounts: number,
  subscriptions: number,
): { readonly accounts: Named; readonly subscriptions: Named } {
  if (setting === 'true') return { accounts: 'all', subscriptions: 'all' };
  if (setting === 'false' || accounts > accountsNamedMax)
    return { accounts: 'worst', subscriptions: 'worst' };
  return { accounts: 'all', subscriptions: subscriptions > subscriptionsNamedMax ? 'worst' : 'all' };
}

/**
 * Up to `max` of these, those with the highest score first; pure. Those with the same score are taken in
 * their order, and those whose score is not above 0 are left out. The memory depends on `max` only.
 */
export function worstOf<T>(all: Iterable<T>, score: (each: T) => number, max: number): T[] {
  let kept: { readonly each: T; readonly score: number }[] = [];
  const cut = () => {
    // The sort is stable.
    kept = kept.toSorted((a, b) => b.score - a.score).slice(0, max);
  };
  let least = 0;
  for (const each of all) {
    const own = score(each);
    if (!(own > least)) continue;
    kept.push({ each, score: own });
    if (kept.length < 2 * max) continue;
    cut();
    least = kept.length < max ? 0 : (kept.at(-1)?.score ?? 0);
  }
  cut();
  return kept.map(({ each }) => each);
}
