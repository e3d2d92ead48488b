import { fromLocal } from '../parts/format.js';

/** @typedef {'dead' | 'hour' | 'day' | 'week' | 'all' | 'between'} Which */

/**
 * The values of the form for a replay.
 * @typedef {object} ReplayValues
 * @property {Which} which
 * @property {string} after local time
 * @property {string} before local time
 * @property {string} filingId
 */

/** The choices of events, in the order of the form. */
export const whichEvents = /** @type {const} */ ([
  ['dead', 'Dead letters only'],
  ['hour', 'The last hour'],
  ['day', 'The last day'],
  ['week', 'The last week'],
  ['all', 'Everything that is still in the log'],
  ['between', 'Between two times'],
]);

/** Milliseconds of the spans that end now. */
const spans = { hour: 3_600_000, day: 86_400_000, week: 604_800_000 };

/**
 * The body of a request for a replay; pure. Fields that were left empty are left out.
 * @param {ReplayValues} values
 * @param {number} now milliseconds
 */
export function replayRequest({ which, after, before, filingId }, now) {
  return {
    deadLettersOnly: which === 'dead',
    ...timesOf(which, after, before, now),
    ...(filingId.trim() === '' ? {} : { filingId: filingId.trim() }),
  };
}

/** @type {(which: Which, after: string, before: string, now: number) => Record<string, string>} */
function timesOf(which, after, before, now) {
  if (which === 'dead' || which === 'all') return {};
  if (which !== 'between') return { after: new Date(now - spans[which]).toISOString() };
  const [from, until] = [fromLocal(after), fromLocal(before)];
  return { ...(from === null ? {} : { after: from }), ...(until === null ? {} : { before: until }) };
}
