/** @import { Account } from '../../api-types.ts' */

/**
 * How far the stored filings of an account can be relied on: `current` while each poll is complete, `old`
 * when they are those of an earlier time, `unknown` before they were ever read as a whole.
 * @typedef {'current' | 'old' | 'unknown'} Knowledge
 */

/**
 * What is known of an account; pure. Zero rejections mean none only while it is `current`.
 * @param {Pick<Account, 'health'>} account
 * @returns {Knowledge}
 */
export function knowledgeOf({ health }) {
  if (health.lastCompletePollAt === null) return 'unknown';
  return health.state === 'ok' ? 'current' : 'old';
}

const troubles = ['auth_failed', 'doubtful', 'stale', 'backing_off', 'baselining'];

/**
 * The place of an account among others: the worst health first, then most rejections, then by name; pure.
 * @param {Account} one
 * @param {Account} other
 */
export function byTrouble(one, other) {
  return (
    rank(one) - rank(other) ||
    (other.counts['REJECTED'] ?? 0) - (one.counts['REJECTED'] ?? 0) ||
    one.account.localeCompare(other.account)
  );
}

/** @type {(account: Account) => number} */
function rank({ health }) {
  const place = troubles.indexOf(health.state);
  if (place >= 0) return place;
  return health.state === 'ok' ? troubles.length : 0;
}
