import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import { nullable } from './schema.ts';

const pattern = /^(\d{4})-(\d{2})-(\d{2})[Tt]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/;

/** Whether a text is a time with date, clock and offset (RFC 3339 §5.6) on a day that exists; pure. */
export function isInstant(text: string): boolean {
  const [, year, month, day] = pattern.exec(text) ?? [];
  if (day === undefined || Number.isNaN(Date.parse(text.toUpperCase()))) return false;
  // Date.parse reads the 30th of February as a day in March.
  return new Date(Date.UTC(Number(year), Number(month) - 1, Number(day))).getUTCDate() === Number(day);
}

/** Milliseconds since the epoch of a text that `isInstant`; null without one; pure. */
export function instantMs(text: string | null | undefined): number | null {
  return text === null || text === undefined ? null : Date.parse(text.toUpperCase());
}

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
    () => 'must be a time such as 2026-12-31T23:59:59Z (RFC 3339)',
  );
}
