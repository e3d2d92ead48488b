import { fromLocal, toLocal } from '../parts/format.js';
import { formatOfUrl, isForPeople, wishOf } from './wishes.js';

/** @import { Account, Subscription } from '../../api-types.ts' */
/** @import { Wish } from './wishes.js' */

// The values of forms, each under its name in the request, and the requests that forms make.

/**
 * The values of a form for an account; times are texts in seconds, empty for the default of the daemon.
 * @typedef {object} AccountValues
 * @property {string} account
 * @property {string} baseUrl
 * @property {string} partnerKey empty: the present one stays
 * @property {string} pollIntervalMs
 * @property {string} sweepIntervalMs
 * @property {Readonly<Record<string, string>>} stalledAfter days or an ISO 8601 duration by status
 * @property {string} digestAt time of day; empty: no digest
 * @property {string} digestZone
 * @property {string} digestDays
 * @property {string} due days or an ISO 8601 duration after each state: `TX 60, * 45`
 * @property {string} dueWarnings days or ISO 8601 durations with commas between
 * @property {boolean} unlessSeen whether rejections that a person has seen may stay for longer
 */

/** @type {AccountValues} */
export const newAccount = {
  account: '',
  baseUrl: '',
  partnerKey: '',
  pollIntervalMs: '',
  sweepIntervalMs: '',
  stalledAfter: {},
  digestAt: '',
  digestZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  digestDays: 'mon-fri',
  due: '',
  dueWarnings: '7, 0',
  unlessSeen: false,
};

/**
 * The values of a form for an account that there is; pure. Its key is never shown.
 * @param {Account} settings
 * @returns {AccountValues}
 */
export function accountValues(settings) {
  const { account, baseUrl, pollIntervalMs, sweepIntervalMs, stalledAfter, due, dueWarnings, digest } =
    settings;
  return {
    account,
    baseUrl,
    partnerKey: '',
    pollIntervalMs: String(pollIntervalMs / 1000),
    sweepIntervalMs: String(sweepIntervalMs / 1000),
    stalledAfter: Object.fromEntries(
      Object.entries(stalledAfter ?? {}).map(([status, rule]) => [
        status,
        daysOf(typeof rule === 'string' ? rule : rule.after),
      ]),
    ),
    due: Object.entries(due ?? {})
      .map(([state, span]) => `${state} ${daysOf(span)}`)
      .join(', '),
    dueWarnings: dueWarnings.map(daysOf).join(', '),
    digestAt: digest?.at ?? '',
    digestZone: digest?.zone ?? newAccount.digestZone,
    digestDays: digest?.days ?? newAccount.digestDays,
    unlessSeen: typeof stalledAfter?.[seenStatus] === 'object',
  };
}

/**
 * The body that makes an account; pure.
 * @param {AccountValues} values
 */
export const accountInput = (values) =>
  Object.fromEntries(Object.entries(accountSettings(values)).filter(([, value]) => value ?? false));

/**
 * The body that changes an account: only what differs; pure.
 * @param {AccountValues} before
 * @param {AccountValues} after
 */
export const accountChange = (before, after) => difference(accountSettings(before), accountSettings(after));

/** @param {AccountValues} values */
function accountSettings(values) {
  const { baseUrl, partnerKey, pollIntervalMs, sweepIntervalMs, stalledAfter, unlessSeen, due, dueWarnings } =
    values;
  const ruleOf = (/** @type {string} */ status, /** @type {string} */ after) =>
    unlessSeen && status === seenStatus ? { after, unless: 'seen' } : after;
  const { digestAt, digestZone, digestDays } = values;
  const spans = Object.entries(stalledAfter)
    .filter(([, text]) => text.trim() !== '')
    .toSorted(([one], [other]) => one.localeCompare(other))
    .map(([status, text]) => [status, ruleOf(status, spanOf(text.trim()))]);
  return {
    baseUrl: baseUrl.trim(),
    partnerKey: partnerKey.trim() || undefined,
    pollIntervalMs: msOf(pollIntervalMs),
    sweepIntervalMs: msOf(sweepIntervalMs),
    stalledAfter: spans.length === 0 ? null : Object.fromEntries(spans),
    due: rulesOf(due),
    dueWarnings: wordsOf(dueWarnings).map(spanOf),
    digest:
      digestAt === ''
        ? null
        : { at: digestAt, zone: digestZone.trim(), days: digestDays.replaceAll(' ', '') },
  };
}

// A state without a duration has an empty one, which the daemon refuses by its name.
/** @type {(text: string) => Record<string, string> | null} */
function rulesOf(text) {
  const rules = wordsOf(text).map((rule) => rule.split(/[\s:=]+/));
  if (rules.length === 0) return null;
  return Object.fromEntries(
    rules.map(([state = '', ...span]) => [state.toUpperCase(), spanOf(span.join(' '))]),
  );
}

/** @type {(text: string) => string[]} */
const wordsOf = (text) =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');

// The only status in which filings are marked as seen.
const seenStatus = 'REJECTED';

/** @type {(seconds: string) => number | undefined} */
const msOf = (seconds) =>
  seconds.trim() === '' ? undefined : Math.round(Number(seconds.replace(',', '.')) * 1000);

/** @type {(text: string) => string} */
const spanOf = (text) => (/^\d+$/.test(text) ? `P${text}D` : text.toUpperCase());

/** @type {(span: string) => string} */
const daysOf = (span) => /^P(\d+)D$/.exec(span)?.[1] ?? span;

/**
 * The values of a form for a subscription.
 * @typedef {object} SubscriptionValues
 * @property {Wish} wish what the events and statuses mean; no part of a request
 * @property {string} url
 * @property {string} description
 * @property {readonly string[]} eventTypes
 * @property {readonly string[]} statuses none: every status
 * @property {string} states abbreviations with commas between; empty: every state
 * @property {string} filter empty: none
 * @property {readonly { name: string, value: string }[] | null} headers null: those that there are stay
 * @property {string} format
 * @property {string} payload
 * @property {string} expiresAt local time; empty: never
 * @property {boolean} autoEnable
 * @property {string} from
 * @property {string} secret
 */

const secretBytes = 32;

/**
 * A random text in Base64.
 * @param {number} bytes
 */
export const randomText = (bytes) =>
  btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(bytes))));

// The patterns that stand for `*` on the form.
const everything = ['filing.*', 'filing.noted', 'account.*', 'subscription.*'];

/**
 * The values of a form for a new subscription, with a random secret.
 * @returns {SubscriptionValues}
 */
export function newSubscription() {
  return {
    wish: 'rejections',
    url: '',
    description: '',
    eventTypes: ['filing.*'],
    statuses: ['REJECTED'],
    states: '',
    filter: '',
    headers: [],
    format: 'standard',
    payload: 'full',
    expiresAt: '',
    autoEnable: true,
    from: 'now',
    secret: `whsec_${randomText(secretBytes)}`,
  };
}

/**
 * The values of a form for a subscription that there is. The values of its headers are not known, so they
 * stay unless the form gives others; pure but for the time zone.
 * @param {Subscription} subscription
 * @returns {SubscriptionValues}
 */
export function subscriptionValues(subscription) {
  const { url, states, description, filter, format, payload, from } = subscription;
  const eventTypes = subscription.eventTypes.flatMap((one) => (one === '*' ? everything : [one]));
  const statuses = subscription.statuses ?? [];
  return {
    wish: wishOf({ eventTypes, statuses }),
    url,
    description: description ?? '',
    eventTypes,
    statuses,
    states: states?.join(', ') ?? '',
    filter: filter ?? '',
    headers: null,
    format,
    payload,
    expiresAt: toLocal(subscription.expiresAt),
    autoEnable: subscription.autoEnable,
    from,
    secret: '',
  };
}

/**
 * The body of a registration; pure but for the time zone.
 * @param {SubscriptionValues} values
 */
export function registration(values) {
  const secret = formatOfUrl(values.url) === 'email' ? '' : values.secret.trim();
  return { ...subscriptionSettings(values), ...(secret === '' ? {} : { secret }) };
}

/**
 * The body of a change: only what differs, so nothing that another user changed meanwhile is set back;
 * pure but for the time zone.
 * @param {SubscriptionValues} before
 * @param {SubscriptionValues} after
 */
export const subscriptionChange = (before, after) =>
  difference(subscriptionSettings(before), subscriptionSettings(after));

/**
 * Whether a URL leads to another origin (scheme, host and port), to which headers are not taken along; pure.
 * @param {string} before
 * @param {string} after
 */
export function isMoved(before, after) {
  const [from, to] = [URL.parse(before), URL.parse(after.trim())];
  return from !== null && to !== null && from.origin !== to.origin;
}

/**
 * The settings that select events; pure.
 * @param {SubscriptionValues} values
 */
export function selection({ eventTypes, statuses, states, filter }) {
  const abbreviations = states
    .toUpperCase()
    .split(/[\s,;]+/)
    .filter((one) => one !== '');
  return {
    eventTypes,
    statuses: statuses.length === 0 ? null : statuses,
    states: abbreviations.length === 0 ? null : abbreviations,
    filter: filter.trim() || null,
  };
}

/** @param {SubscriptionValues} values */
function subscriptionSettings(values) {
  const { url, description, headers, format, payload, expiresAt, autoEnable, from } = values;
  const isMail = formatOfUrl(url) === 'email';
  const other = format === 'email' ? 'standard' : format;
  const named = isMail ? null : headers?.filter(({ name, value }) => name.trim() !== '' || value !== '');
  return {
    url: url.trim(),
    description: description.trim() || null,
    ...selection(values),
    headers: named ? Object.fromEntries(named.map(({ name, value }) => [name.trim(), value])) : undefined,
    format: isMail ? 'email' : other,
    // A message needs the filing's names.
    payload: isForPeople(values) ? 'full' : payload,
    expiresAt: fromLocal(expiresAt),
    autoEnable,
    from,
  };
}

/** @type {(before: Record<string, unknown>, after: Record<string, unknown>) => Record<string, unknown>} */
function difference(before, after) {
  return Object.fromEntries(
    Object.entries(after).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])),
  );
}

// Milliseconds of the spans of a replay that end now.
const spans = { hour: 3_600_000, day: 86_400_000, week: 604_800_000 };

/**
 * The body of a request for a replay, of a form with the fields `which`, `after`, `before` (local times) and
 * `filingId`; pure. Fields that were left empty are left out.
 * @param {Partial<Record<string, string>>} values
 * @param {number} now milliseconds
 */
export function replayRequest({ which = '', after = '', before = '', filingId = '' }, now) {
  const span = spans[/** @type {keyof typeof spans} */ (which)];
  const times =
    which === 'between'
      ? { after: fromLocal(after), before: fromLocal(before) }
      : { after: span === undefined ? null : new Date(now - span).toISOString() };
  const given = { ...times, filingId: filingId.trim() };
  return {
    deadLettersOnly: which === 'dead',
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value)),
  };
}
