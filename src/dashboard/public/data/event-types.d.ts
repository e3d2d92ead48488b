import type { Tone } from '../parts/parts.js';

/** The tone of each event type that is in logs, in the order of `src/events/event-types.ts`. */
export const eventTones: Readonly<Record<string, Tone>>;
