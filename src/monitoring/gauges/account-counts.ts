import { worstOf, type Named } from './worst.ts';

/** A sample of a counter with series per account. */
export interface AccountCount {
  readonly account: string;
  readonly label: string;
  readonly value: number;
}

/**
 * The counts of this process for a counter with a label beside the account. All are kept as long as the
 * account, so none goes down; which of them have series is decided at each scrape.
 */
export interface AccountCounts {
  add(account: string, label: string, by?: number): void;
  /**
   * The accounts that are known to exist now. Counts of those that were known and are not any more are
   * dropped, and those of accounts that nothing was added to for ten minutes and that are still not known.
   */
  keep(accounts: ReadonlySet<string>): void;
  /**
   * The samples. With `all`, each known account has each of `labels`, 0 before the first: rate() does not see
   * the first increase of a counter that appears with it. With `worst`, those of `labels` of the accounts
   * that were added to last: a series that appears shows its former count, 0 at first, for two minutes, so
   * that rate() sees what has made it appear.
   */
  samples(named: Named, labels: readonly string[], max: number): AccountCount[];
}

// Milliseconds for which a series that appears shows its former count; scrapes come more often.
const formerMs = 120_000;
// Milliseconds within which an account that has been created is known.
const unknownMs = 600_000;

interface Entry {
  readonly account: string;
  readonly label: string;
  value: number;
  addedAt: number;
  /** Since when it has had a series beside the worst; null while it has none. */
  shownSince: number | null;
  /** The value of that series at last. */
  shown: number;
}

/** Counts in memory; `now` is in milliseconds, monotonic. */
export function createAccountCounts(now: () => number): AccountCounts {
  const entries = new Map<string, Map<string, Entry>>();
  let existing: ReadonlySet<string> = new Set();

  function entryOf(account: string, label: string): Entry {
    let ofAccount = entries.get(account);
    if (ofAccount === undefined) entries.set(account, (ofAccount = new Map()));
    let entry = ofAccount.get(label);
    if (entry === undefined) {
      entry = { account, label, value: 0, addedAt: 0, shownSince: null, shown: 0 };
      ofAccount.set(label, entry);
    }
    return entry;
  }

  function* all(labels: readonly string[]): Generator<Entry> {
    for (const ofAccount of entries.values())
      for (const label of labels) {
        const entry = ofAccount.get(label);
        if (entry !== undefined) yield entry;
      }
  }

  function isUnknownForLong(ofAccount: ReadonlyMap<string, Entry>): boolean {
    return Array.from(ofAccount.values()).every(({ addedAt }) => now() - addedAt >= unknownMs);
  }

  function shownValue(entry: Entry): number {
    entry.shownSince ??= now();
    if (now() - entry.shownSince >= formerMs) entry.shown = entry.value;
    return entry.shown;
  }

  return {
    add(account, label, by = 1) {
      const entry = entryOf(account, label);
      entry.value += by;
      entry.addedAt = now();
    },
    keep(accounts) {
      // One that is not known yet has been created since, or came and went between two scrapes.
      for (const [account, ofAccount] of entries)
        if (!accounts.has(account) && (existing.has(account) || isUnknownForLong(ofAccount)))
          entries.delete(account);
      existing = accounts;
    },
    samples(named, labels, max) {
      if (named === 'all') {
        for (const account of existing) for (const label of labels) entryOf(account, label);
        const found = Array.from(entries.values(), (each) => [...each.values()]).flat();
        for (const entry of found) entry.shown = entry.value;
        return found.map(({ account, label, value }) => ({ account, label, value }));
      }
      const recent = worstOf(all(labels), ({ value, addedAt }) => (value > 0 ? addedAt : 0), max);
      const isRecent = new Set(recent);
      for (const entry of all(labels)) if (!isRecent.has(entry)) entry.shownSince = null;
      return recent.map((entry) => ({
        account: entry.account,
        label: entry.label,
        value: shownValue(entry),
      }));
    },
  };
}
