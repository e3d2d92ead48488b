import type { Tone } from '../parts/parts.js';

/** The tone of each event type that is in logs, in the order of `src/events/event-types.ts`. */
export const eventTones: Readonly<Record<string, Tone>>;

/** The tone of each known status, in the order of `src/partner/filing-statuses.ts`. */
export const statusTones: Readonly<Record<string, Tone>>;

/** When each event type that is in logs occurs, as a sentence. */
export const eventMeanings: Readonly<Record<string, string>>;

/** The known statuses in which a filing's stay can be limited. */
export const limitedStatuses: readonly string[];
