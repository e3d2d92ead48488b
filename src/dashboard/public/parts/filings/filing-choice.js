const completed = 'COMPLETED';

/**
 * Which filings are wanted.
 * @typedef {object} FilingChoice
 * @property {string | null} status null: those that are not completed, or all of a search
 * @property {string | null} state
 * @property {string | null} q words of a search
 * @property {'newest' | 'oldest'} order
 * @property {readonly string[]} statuses every status that the account has had
 */

/**
 * What is asked of `GET …/filings` for a choice; pure. Completed filings have no order of time, and their
 * states are known only in a search.
 * @param {FilingChoice} choice
 * @returns {Record<string, string | null>}
 */
export function queryOf({ status, state, q, order, statuses }) {
  if (q !== null) return { q, status, state, order };
  if (status === completed) return { status };
  // A comma would divide a status in two.
  const open = statuses.filter((one) => one !== completed && !one.includes(','));
  return { status: status ?? open.join(','), state, order };
}

/**
 * Whether the order and the state have an effect on a choice; pure.
 * @param {Pick<FilingChoice, 'status' | 'q'>} choice
 */
export const isSorted = ({ status, q }) => q !== null || status !== completed;
