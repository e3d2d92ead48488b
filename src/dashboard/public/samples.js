import { useEffect, useState } from './vendor/hooks.js';

/** @import { Account } from './api-types.d.ts' */

/**
 * How many filings an account had in each status at one time.
 * @typedef {{ at: number, counts: Record<string, number> }} Sample `at`: milliseconds
 */

const samplesMax = 1500;

// For as long as the page is open. The daemon keeps no history of counts; its metrics do where they are scraped.
/** @type {Map<string, Sample[]>} */
const samplesOf = new Map();

/**
 * The samples of an account with one more; pure. When there are too many, every second one of the older half goes.
 * @param {Sample[]} samples
 * @param {Sample} sample
 */
export function withSample(samples, sample) {
  const all = [...samples, sample];
  if (all.length <= samplesMax) return all;
  return all.filter((_, place) => place % 2 === 0 || place > samplesMax / 2);
}

/**
 * Remembers the counts of accounts each time they are read.
 * @param {Account[] | null} accounts
 * @param {number} now milliseconds
 */
export function recordCounts(accounts, now) {
  for (const { account, counts } of accounts ?? []) {
    const samples = samplesOf.get(account) ?? [];
    if (now - (samples.at(-1)?.at ?? 0) >= 1000)
      samplesOf.set(account, withSample(samples, { at: now, counts }));
  }
}

/**
 * What the page has seen of an account so far, oldest first; one more for each new reading.
 * @param {Account | null} account
 * @param {number} now milliseconds
 */
export function useSamples(account, now) {
  const [samples, setSamples] = useState(/** @type {Sample[]} */ ([]));
  useEffect(() => {
    if (account === null) return;
    recordCounts([account], now);
    setSamples(samplesOf.get(account.account) ?? []);
    // A reading is a new object; the time alone is no news.
  }, [account]);
  return samples;
}
