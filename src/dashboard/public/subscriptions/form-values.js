import { fromLocal, toLocal } from '../parts/format.js';

/** @import { Subscription } from '../../api-types.ts' */

/**
 * The values of a form for a subscription.
 * @typedef {object} FormValues
 * @property {string} url
 * @property {string} description
 * @property {readonly string[]} eventTypes
 * @property {readonly string[]} statuses none: every status
 * @property {string} states abbreviations with commas between; empty: every state
 * @property {string} filter empty: none
 * @property {readonly { name: string, value: string }[] | null} headers null: those that there are stay
 * @property {string} format
 * @property {string} payload
 * @property {string} expires local time; empty: never
 * @property {string} from
 * @property {string} secret
 */

const secretBytes = 32;

// The patterns that stand for `*` on the form.
const everything = ['filing.*', 'account.*', 'subscription.*'];

/**
 * The values of a form for a new subscription, with a random secret.
 * @returns {FormValues}
 */
export function newValues() {
  const bytes = crypto.getRandomValues(new Uint8Array(secretBytes));
  return {
    url: '',
    description: '',
    eventTypes: ['filing.*'],
    statuses: [],
    states: '',
    filter: '',
    headers: [],
    format: 'standard',
    payload: 'full',
    expires: '',
    from: 'now',
    secret: `whsec_${btoa(String.fromCharCode(...bytes))}`,
  };
}

/**
 * The values of a form for a subscription that there is. The values of its headers are not known, so they
 * stay unless the form gives others; pure but for the time zone.
 * @param {Subscription} subscription
 * @returns {FormValues}
 */
export function valuesOf(subscription) {
  const { url, eventTypes, format, payload, from } = subscription;
  return {
    url,
    description: subscription.description ?? '',
    eventTypes: eventTypes.flatMap((one) => (one === '*' ? everything : [one])),
    statuses: subscription.statuses ?? [],
    states: subscription.states?.join(', ') ?? '',
    filter: subscription.filter ?? '',
    headers: null,
    format,
    payload,
    expires: toLocal(subscription.expiresAt),
    from,
    secret: '',
  };
}

/**
 * The body of a registration; pure but for the time zone.
 * @param {FormValues} values
 */
export function registration(values) {
  const { url, secret, from } = values;
  return {
    url: url.trim(),
    ...settingsOf(values),
    from,
    ...(secret.trim() === '' ? {} : { secret: secret.trim() }),
  };
}

/**
 * The body of a change: only what differs, so nothing that another user changed meanwhile is set back;
 * pure but for the time zone.
 * @param {FormValues} before
 * @param {FormValues} after
 */
export function change(before, after) {
  const former = { url: before.url, from: before.from, ...settingsOf(before) };
  const present = { url: after.url.trim(), from: after.from, ...settingsOf(after) };
  return Object.fromEntries(
    Object.entries(present).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(former[/** @type {'url'} */ (name)]),
    ),
  );
}

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
 * @param {FormValues} values
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

/** @param {FormValues} values */
function settingsOf(values) {
  const { description, headers, format, payload, expires } = values;
  const named = headers?.filter(({ name, value }) => name.trim() !== '' || value !== '');
  return {
    description: description.trim() === '' ? null : description.trim(),
    ...selection(values),
    ...(named === undefined
      ? {}
      : { headers: Object.fromEntries(named.map(({ name, value }) => [name.trim(), value])) }),
    format,
    payload,
    expiresAt: fromLocal(expires),
  };
}
