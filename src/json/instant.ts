import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import { nullable } from './schema-parts.ts';

const pattern = /^(\d{4}-\d{2}-(\d{2})T\d{2}:\d{2}):(\d{2})(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;

/**
 * Whether a text is a time with date, clock and offset (RFC 3339 §5.6) on a day that exists, in the years 0
 * to 9999 of UTC; pure. It may be a leap second, at the end of a month in UTC.
 */
export function isInstant(text: string): boolean {
  return toMs(text) !== null;
}

/**
 * Milliseconds since the epoch of a text that `isInstant`, or null if there is none; pure. A leap second is
 * the first second of the next minute, as in POSIX.
 */
export function instantMs(text: string | null | undefined): number | null {
  return text === null || text === undefined ? null : toMs(text);
}

function toMs(text: string): number | null {
  const [, minute, day, second, fraction = '', offset] = pattern.exec(text.toUpperCase()) ?? [];
  if (minute === undefined) return null;
  const isLeap = second === '60';
  const ms = Date.parse(`${minute}:${isLeap ? '59' : second}${fraction}${offset}`) + (isLeap ? 1_000 : 0);
  // Date.parse reads the 30th of February as a day in March.
  const isDay = new Date(`${minute.slice(0, 10)}T00:00Z`).getUTCDate() === Number(day);
  if (Number.isNaN(ms) || !isDay || !/^\d{4}-/.test(new Date(ms).toISOString())) return null;
  return isLeap && !/-01T00:00:00/.test(new Date(ms).toISOString()) ? null : ms;
}

/** The message about a time in a request that is none. */
export const timeWords = 'must be a time with its zone, such as 2026-11-21T10:00:00Z';

/** A time in a request. */
export const instantSchema = (description: string) => onExistingDay(timeText(description));

/** A time in a request, or null. */
export const instantOrNullSchema = (description: string) => onExistingDay(nullable(timeText(description)));

function timeText(description: string) {
  return Type.String({ format: 'date-time', description, examples: ['2026-12-31T23:59:59Z'] });
}

function onExistingDay<T extends TSchema>(schema: T) {
  return Type.Refine(
    schema,
    (text) => typeof text !== 'string' || isInstant(text),
    () => timeWords,
  );
}

/** The message about a time that has passed; `now` is milliseconds on the clock that it was compared with. */
export function mustBeLater(now: number): string {
  return `must lie in the future; now it is ${new Date(now).toISOString()}`;
}
