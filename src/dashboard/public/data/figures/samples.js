import { useEffect, useMemo, useState } from '../../vendor/hooks.js';
import { apiPath } from '../api-client.js';
import { useResource } from '../use-resource.js';
import { knowledgeOf } from './knowledge.js';

/** @import { Account } from '../../../api-types.ts' */
/** @import { Resource } from '../use-resource.js' */

/**
 * The number of an account's filings in each status at one time.
 * @typedef {{ at: number, counts: Record<string, number | null> }} Sample `at`: milliseconds
 */

const samplesMax = 1000;
const refreshMs = 60_000;

/**
 * The samples of an account with one more; pure. If there are too many, every second one of the older half is
 * dropped.
 * @param {Sample[]} samples
 * @param {Sample} sample
 */
export function withSample(samples, sample) {
  const all = [...samples, sample];
  if (all.length <= samplesMax) return all;
  return all.filter((_, place) => place % 2 === 0 || place > samplesMax / 2);
}

/**
 * The samples that the daemon has stored over the past hours, then those that this page has read since it was
 * opened, oldest first; pure.
 * @param {{ at: string, counts: Record<string, number> }[]} noted
 * @param {Sample[]} read
 */
export function joinSamples(noted, read) {
  const past = noted.map(({ at, counts }) => ({ at: Date.parse(at), counts }));
  const from = read[0]?.at ?? Number.POSITIVE_INFINITY;
  return [...past.filter(({ at }) => at < from), ...read];
}

/**
 * The filings of an account by status over the past hours up to now, one more for each new reading; whether
 * the past was read, and why it could not be.
 * @param {string} name
 * @param {Account | null} account as last read
 * @param {number} hours
 * @param {number} now milliseconds
 */
export function useSamples(name, account, hours, now) {
  const [read, setRead] = useState(/** @type {Sample[]} */ ([]));
  /** @type {Resource<{ items: { at: string, counts: Record<string, number> }[] }>} */
  const { data, error } = useResource(`${apiPath('accounts', name, 'counts')}?hours=${hours}`, refreshMs);
  useEffect(() => {
    if (account !== null && knowledgeOf(account) !== 'unknown')
      setRead((before) => withSample(before, { at: now, counts: account.counts }));
    // A reading is a new object; a new time alone adds no sample.
  }, [account]);
  const samples = useMemo(() => joinSamples(data?.items ?? [], read), [data, read]);
  return { samples, isRead: data !== null, error };
}
