/** @import { Account } from '../../api-types.ts' */

/**
 * The values of a form for an account; times are texts in seconds, empty for the default of the daemon.
 * @typedef {object} AccountValues
 * @property {string} name
 * @property {string} baseUrl
 * @property {string} partnerKey empty: the present one stays
 * @property {string} pollSeconds
 * @property {string} sweepSeconds
 * @property {Readonly<Record<string, string>>} stalledAfter days or an ISO 8601 duration by status
 */

/** @type {AccountValues} */
export const newAccount = {
  name: '',
  baseUrl: '',
  partnerKey: '',
  pollSeconds: '',
  sweepSeconds: '',
  stalledAfter: {},
};

/**
 * The values of a form for an account that there is; pure. Its key is never shown.
 * @param {Account} account
 * @returns {AccountValues}
 */
export function accountValues({ account, baseUrl, pollIntervalMs, sweepIntervalMs, stalledAfter }) {
  return {
    name: account,
    baseUrl,
    partnerKey: '',
    pollSeconds: String(pollIntervalMs / 1000),
    sweepSeconds: String(sweepIntervalMs / 1000),
    stalledAfter: Object.fromEntries(
      Object.entries(stalledAfter ?? {}).map(([status, span]) => [status, daysOf(span)]),
    ),
  };
}

/**
 * The body that makes an account; pure.
 * @param {AccountValues} values
 */
export function accountInput({ baseUrl, partnerKey, pollSeconds, sweepSeconds, stalledAfter }) {
  return {
    baseUrl: baseUrl.trim(),
    partnerKey: partnerKey.trim(),
    ...(pollSeconds.trim() === '' ? {} : { pollIntervalMs: msOf(pollSeconds) }),
    ...(sweepSeconds.trim() === '' ? {} : { sweepIntervalMs: msOf(sweepSeconds) }),
    ...(Object.keys(spansOf(stalledAfter)).length === 0 ? {} : { stalledAfter: spansOf(stalledAfter) }),
  };
}

/**
 * The body that changes an account: only what differs; pure.
 * @param {AccountValues} before
 * @param {AccountValues} after
 */
export function accountChange(before, after) {
  const spans = spansOf(after.stalledAfter);
  const changed = {
    baseUrl: after.baseUrl.trim() === before.baseUrl ? undefined : after.baseUrl.trim(),
    partnerKey: after.partnerKey.trim() === '' ? undefined : after.partnerKey.trim(),
    pollIntervalMs: after.pollSeconds === before.pollSeconds ? undefined : msOf(after.pollSeconds),
    sweepIntervalMs: after.sweepSeconds === before.sweepSeconds ? undefined : msOf(after.sweepSeconds),
    stalledAfter:
      JSON.stringify(spans) === JSON.stringify(spansOf(before.stalledAfter))
        ? undefined
        : Object.keys(spans).length === 0
          ? null
          : spans,
  };
  return Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== undefined));
}

/** @type {(seconds: string) => number} */
const msOf = (seconds) => Math.round(Number(seconds.replace(',', '.')) * 1000);

/** @type {(stalledAfter: Readonly<Record<string, string>>) => Record<string, string>} */
function spansOf(stalledAfter) {
  const set = Object.entries(stalledAfter)
    .filter(([, text]) => text.trim() !== '')
    .toSorted(([one], [other]) => one.localeCompare(other));
  return Object.fromEntries(set.map(([status, text]) => [status, spanOf(text.trim())]));
}

/** @type {(text: string) => string} */
const spanOf = (text) => (/^\d+$/.test(text) ? `P${text}D` : text.toUpperCase());

/** @type {(span: string) => string} */
const daysOf = (span) => /^P(\d+)D$/.exec(span)?.[1] ?? span;
