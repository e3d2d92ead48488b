const units = /** @type {const} */ ([
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
]);

const dayMs = 86_400_000;

const full = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeStyle: 'long' });
const inSeconds = new Intl.DateTimeFormat('en-US', { timeStyle: 'medium', hourCycle: 'h23' });
const inMinutes = new Intl.DateTimeFormat('en-US', { timeStyle: 'short', hourCycle: 'h23' });
const inDays = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric' });
const money = new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' });
const whole = new Intl.NumberFormat('en-US');

/**
 * The distance of a time from now, past or future, in its largest unit; pure.
 * @param {number} at milliseconds
 * @param {number} now milliseconds on the same clock
 */
export function relativeTime(at, now) {
  const distance = Math.abs(now - at);
  if (distance < 2000) return 'just now';
  return at > now ? `in ${duration(distance)}` : `${duration(distance)} ago`;
}

/**
 * A time of today as its clock shows it ("14:02" or "14:02:07"), an earlier or later one with its day
 * ("Nov 20, 14:02"); pure but for the time zone.
 * @param {number} at milliseconds
 * @param {number} now milliseconds on the same clock
 * @param {boolean} [seconds]
 */
export function clockTime(at, now, seconds = false) {
  const time = (seconds ? inSeconds : inMinutes).format(at);
  const day = inDays.format(at);
  return day === inDays.format(now) && Math.abs(now - at) < dayMs * 2 ? time : `${day}, ${time}`;
}

/**
 * How urgent an age is, as a tone: from a day on, and from three days on; pure.
 * @param {number} ms
 * @returns {'plain' | 'warn' | 'bad'}
 */
export function toneOfAge(ms) {
  if (ms >= 3 * dayMs) return 'bad';
  return ms >= dayMs ? 'warn' : 'plain';
}

/**
 * A span in its largest unit: "3 min", "120 ms"; pure.
 * @param {number} ms
 */
export function duration(ms) {
  for (const [unit, size] of units) if (ms >= size) return `${Math.floor(ms / size)} ${unit}`;
  return `${Math.round(ms)} ms`;
}

/**
 * The same span to the nearest of its unit: of "6 d" and 23 hours it is "7 d"; pure.
 * @param {number} ms
 */
export function roundedDuration(ms) {
  const size = units.find(([, unitMs]) => ms >= unitMs)?.[1] ?? 0;
  return duration(ms + size / 2);
}

/** @param {number} at milliseconds */
export const fullTime = (at) => full.format(at);

/** @param {number} count */
export const number = (count) => whole.format(count);

/**
 * A number of things: "1 event", "2 events".
 * @param {number} count
 * @param {string} one
 * @param {string} [many] more than one of them
 */
export const counted = (count, one, many = `${one}s`) => `${number(count)} ${count === 1 ? one : many}`;

/** @param {number | null} amount */
export const dollars = (amount) => (amount === null ? null : money.format(amount));

/**
 * A word of the API with spaces: `auth_failed` → "auth failed"; pure.
 * @param {string} word
 */
export const spaced = (word) => word.replaceAll('_', ' ');

/** The time zone of the browser with its present distance from UTC, such as "Europe/Berlin (GMT+1)". */
export function timeZone() {
  const format = new Intl.DateTimeFormat('en-US', { timeZoneName: 'shortOffset' });
  const offset = format.formatToParts().find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const zone = format.resolvedOptions().timeZone;
  return zone === offset ? zone : `${zone} (${offset})`;
}

/**
 * A time of the API as a field for local time takes it; empty for none.
 * @param {string | null} iso
 */
export function toLocal(iso) {
  const at = new Date(iso ?? '');
  if (Number.isNaN(at.getTime())) return '';
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
}

/**
 * The text of a field for local time as a time of the API; null for none.
 * @param {string} text
 */
export function fromLocal(text) {
  const at = new Date(text);
  return text === '' || Number.isNaN(at.getTime()) ? null : at.toISOString();
}
