import { shortened } from '../../json/cut-text.ts';
const lineBreak = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/;

// Control characters, and those that turn the direction of the text behind them.
const unseen = /[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

/** A text of an event without space around it; empty for anything else. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}

/** The lines of a text. */
export function linesOf(text: string): string[] {
  return text.split(lineBreak);
}

/** A text on one line, without characters that are not seen; cut with an ellipsis after `max` characters. */
export function oneLine(text: string, max: number): string {
  const line = linesOf(text).join(' ').replaceAll(unseen, '').toWellFormed();
  return shortened(line, max);
}

/** A status as a word: `Rejected`; one of several words as it is written. */
export function statusWord(status: string): string {
  return /^[A-Z]+$/.test(status) ? `${status.slice(0, 1)}${status.slice(1).toLowerCase()}` : status;
}

const dollars = new Intl.NumberFormat('en-US', {
  style: 'currency',
  currency: 'USD',
  trailingZeroDisplay: 'stripIfInteger',
});

/** A premium in dollars; empty for anything but a number. Exact documents hold numbers as raw JSON. */
export function premiumText(value: unknown): string {
  if (value === null || value === undefined || typeof value === 'string' || typeof value === 'boolean')
    return '';
  const number = Number(JSON.stringify(value));
  return Number.isFinite(number) ? dollars.format(number) : '';
}

/** A time in UTC to the minute, or the text itself if it is not a time. */
export function timeText(iso: string): string {
  const at = Date.parse(iso);
  return Number.isFinite(at) ? `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC` : iso;
}

const units = [
  ['day', 1440],
  ['hour', 60],
  ['minute', 1],
] as const;

/** A span in its largest unit, rounded: `7 days`; at least a minute. */
export function spanText(ms: number): string {
  const minutes = Math.max(1, Math.round(ms / 60_000));
  const [unit, size] = units.find(([, length]) => minutes >= length) ?? units[2];
  const count = Math.round(minutes / size);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
