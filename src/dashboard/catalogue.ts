import { eventTypes, loggedEventTypes } from '../events/event-types.ts';
import { filingStatuses } from '../partner/filing-statuses.ts';

/** How good or bad something is, as a colour of the page. */
export type Tone = 'good' | 'bad' | 'warn' | 'info' | 'busy' | 'plain';

/** The tone of each event type that is in logs. */
export const eventTones: Readonly<Record<string, Tone>> = Object.fromEntries(
  loggedEventTypes.map((type) => [type, eventTypes[type].tone]),
);

/** When each event type that is in logs occurs, as a sentence without its marks for code. */
export const eventMeanings: Readonly<Record<string, string>> = Object.fromEntries(
  loggedEventTypes.map((type) => [type, eventTypes[type].when.replaceAll('`', '')]),
);

/** The tone of each known status: that of the event for a filing that came into it. */
export const statusTones: Readonly<Record<string, Tone>> = Object.fromEntries(
  filingStatuses.map(({ status, event }) => [status, eventTypes[event].tone]),
);

/** The known statuses in which a filing's stay can be limited. */
export const limitedStatuses: readonly string[] = filingStatuses
  .filter(({ indexed }) => indexed)
  .map(({ status }) => status);
