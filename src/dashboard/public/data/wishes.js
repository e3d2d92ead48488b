/** @import { SubscriptionValues } from './requests.js' */

// The wishes of a person, and the settings that mean them. All of it is pure.

/** @typedef {'rejections' | 'completed' | 'everything' | 'choose'} Wish */

/** @type {Readonly<Record<Exclude<Wish, 'choose'>, readonly string[]>>} */
const statusesOf = { rejections: ['REJECTED'], completed: ['COMPLETED'], everything: [] };
const everyFiling = 'filing.*';

/**
 * The values of a form that mean a wish. Of `choose` they stay as they are.
 * @param {Wish} wish
 * @returns {Partial<SubscriptionValues>}
 */
export function ofWish(wish) {
  if (wish === 'choose') return { wish, from: 'now' };
  return { wish, eventTypes: [everyFiling], statuses: statusesOf[wish], from: 'now' };
}

/**
 * The wish that settings mean.
 * @param {Pick<SubscriptionValues, 'eventTypes' | 'statuses'>} values
 * @returns {Wish}
 */
export function wishOf({ eventTypes, statuses }) {
  if (eventTypes.length !== 1 || eventTypes[0] !== everyFiling) return 'choose';
  const wishes = /** @type {(keyof typeof statusesOf)[]} */ (Object.keys(statusesOf));
  return wishes.find((wish) => statusesOf[wish].join() === statuses.join()) ?? 'choose';
}

/**
 * Whether a subscription with these settings gets an event when a filing is rejected.
 * @param {Pick<SubscriptionValues, 'eventTypes' | 'statuses'>} values
 */
export const coversRejections = ({ eventTypes, statuses }) =>
  ['*', everyFiling, 'filing.rejected'].some((type) => eventTypes.includes(type)) &&
  (statuses.length === 0 || statuses.includes('REJECTED'));

/** @type {Readonly<Record<string, string>>} */
const subjects = {
  rejections: 'every rejection',
  completed: 'every filing that is completed',
  everything: 'every change of every filing',
};
/** The formats that an endpoint may have: value, name, and the words for what comes. */
export const formats = /** @type {const} */ ([
  ['standard', 'Standard Webhooks (JSON)', 'signed JSON'],
  ['cloudevents', 'CloudEvents (JSON)', 'signed CloudEvents'],
  ['slack', 'Slack message', 'Slack messages'],
  ['teams', 'Microsoft Teams card', 'Teams cards'],
]);
/** @type {Readonly<Record<string, string>>} */
const starts = {
  now: 'from now on',
  earliest: 'first everything that is still in the log',
  state: 'first those that are so now, then from now on',
};
const namedMax = 4;

/**
 * The sentence about what a subscription with these settings gets.
 * @param {SubscriptionValues} values
 */
export function wishText(values) {
  const { wish, eventTypes, states, filter, format, from } = values;
  if (eventTypes.length === 0) return 'Gets nothing: choose at least one event.';
  const where = states.trim() === '' ? 'of all states' : `of ${states.trim().toUpperCase()}`;
  const parts = [
    `Gets ${subjects[wish] ?? chosenText(values)} ${where}`,
    ...(filter.trim() === '' ? [] : ['if the filter holds']),
    `as ${format === 'email' ? 'e-mail' : (formats.find(([one]) => one === format)?.[2] ?? format)}`,
    starts[from] ?? from,
  ];
  return `${parts.join(', ')}.`;
}

/** @param {Pick<SubscriptionValues, 'eventTypes' | 'statuses'>} values */
function chosenText({ eventTypes, statuses }) {
  const rest = eventTypes.length - namedMax;
  const named = eventTypes.slice(0, namedMax).join(', ');
  const types = rest > 0 ? `${named} and ${rest} more` : named;
  return statuses.length === 0 ? types : `${types} after which a filing is ${statuses.join(' or ')},`;
}

// Hosts of Slack and of Microsoft Teams (Power Automate) to which messages are posted.
const hosts = /** @type {const} */ ([
  ['slack', /^hooks\.slack(-gov)?\.com$/],
  ['teams', /(^|\.)(logic\.azure\.com|webhook\.office\.com|powerplatform\.com)$/],
]);

/**
 * The format that a URL requires, by its host or as a mailbox; null if any format will do.
 * @param {string} url
 */
export function formatOfUrl(url) {
  const { protocol, hostname: host } = URL.parse(url.trim()) ?? { protocol: '', hostname: '' };
  if (protocol === 'mailto:') return 'email';
  return hosts.find(([, pattern]) => pattern.test(host))?.[0] ?? null;
}

/**
 * Whether messages go to people, by a service that neither checks signatures nor reads headers.
 * @param {Pick<SubscriptionValues, 'url' | 'format'>} values
 */
export function isForPeople({ url, format }) {
  const own = formatOfUrl(url);
  return own !== null && own === format;
}

/**
 * The values after a change of a form: the format follows the URL.
 * @template {Pick<SubscriptionValues, 'url' | 'format'>} Values
 * @param {Values} before
 * @param {Values} after
 * @returns {Values}
 */
export function followUrl(before, after) {
  const format = formatOfUrl(after.url);
  return format === formatOfUrl(before.url) ? after : { ...after, format: format ?? 'standard' };
}
