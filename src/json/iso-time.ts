/** Milliseconds since the epoch as ISO 8601 in UTC; 0 means never and is null. */
export function isoOrNull(ms: number): string | null {
  return ms === 0 ? null : new Date(ms).toISOString();
}

/** A moment as it is written somewhere. */
export interface WrittenTime {
  /** Milliseconds since the epoch, with a fraction if the text is more precise than that. */
  readonly ms: number;
  /** Milliseconds of the last digit that is not zero: 1000 for whole seconds, 60 000 without seconds. */
  readonly unitMs: number;
}

const dayMs = 86_400_000;
const minuteMs = 60_000;

// ISO 8601 in its extended and basic formats, and as databases and languages write it: a space for the T, a
// comma for the point, a zone of hours only or by name, and the name of its region.
const iso =
  /^(\d{4})([-/]?)(\d{2})\2(\d{2})(?:[T ]?(\d{2}):?(\d{2})(?::?(\d{2})(?:[.,](\d+))?)?)? ?(Z|UTC|GMT)?(?:([+-])(\d{2})(?::?(\d{2}))?)?(?:\[[\w/+-]+\])?$/i;
// The format of HTTP and mail (RFC 9110 §5.6.7, RFC 5322 §3.3), and what languages show.
const worded =
  /^(?:[a-z]{3,9},? )?(?:\d{1,2} [a-z]{3}|[a-z]{3} {1,2}\d{1,2}) (?:\d{4} )?\d{2}:\d{2}:\d{2} (?:GMT|UTC|Z|(?=[+-]))(?:[+-]\d{4})?(?: \d{4})?(?: \([\w ]+\))?$/i;
// Seconds, milliseconds, microseconds or nanoseconds since the epoch, also as JSON of .NET.
const epoch = /^(?:\/Date\()?(-?\d{9,19}(?:\.\d+)?)(?:[+-]\d{4}\)\/|\)\/)?$/;

/**
 * Reads a timestamp: ISO 8601, a number since the epoch, whose size shows its unit, or the format of HTTP.
 * Without a zone it is taken for UTC, wherever the process runs. Null for any other text; pure.
 */
export function readTime(text: string): WrittenTime | null {
  const trimmed = text.trim();
  const read = readIso(trimmed) ?? readEpoch(trimmed);
  const ms = read?.ms ?? (worded.test(trimmed) ? Date.parse(trimmed) : Number.NaN);
  return Number.isNaN(ms) ? null : { ms, unitMs: Math.max(read?.unitMs ?? 0, unitOf(ms)) };
}

/** The milliseconds since the epoch of a timestamp that `readTime` reads; NaN for any other text. */
export function epochMsOf(text: string): number {
  return readTime(text)?.ms ?? Number.NaN;
}

function readIso(text: string): WrittenTime | null {
  const match = iso.exec(text);
  if (match === null) return null;
  const [year, , month, day, hour, minute, second, fraction, , sign, zoneHours, zoneMinutes] = match.slice(1);
  const whole = Date.parse(`${year}-${month}-${day}T${hour ?? '00'}:${minute ?? '00'}:${second ?? '00'}Z`);
  if (Number.isNaN(whole)) return null;
  const zone =
    (Number(zoneHours ?? 0) * 60 + Number(zoneMinutes ?? 0)) * (sign === '-' ? -minuteMs : minuteMs);
  const unitMs = hour === undefined ? dayMs : second === undefined ? minuteMs : 0;
  return { ms: whole - zone + Number(`0.${fraction ?? 0}`) * 1_000, unitMs };
}

function readEpoch(text: string): WrittenTime | null {
  const [, digits] = epoch.exec(text) ?? [];
  if (digits === undefined) return null;
  const value = Number(digits);
  const size = Math.abs(value);
  const perMs =
    text.startsWith('/') || (size >= 1e11 && size < 1e14) ? 1 : size < 1e11 ? 1e-3 : size < 1e17 ? 1e3 : 1e6;
  return { ms: value / perMs, unitMs: 0 };
}

// Zeros at the end are no digits: a column without fractions is often written with some.
function unitOf(ms: number): number {
  if (!Number.isInteger(ms)) return 0.001;
  let unit = 1;
  while (unit < 1_000 && ms % (unit * 10) === 0) unit *= 10;
  return unit;
}
