import { readTime, type WrittenTime } from '../../json/iso-time.ts';

/**
 * Whether two timestamps name the same moment, however they are written (docs/partner.md#timestamps). They do
 * if one is the other, cut or rounded to its own precision. Empty texts and zero dates are no timestamps,
 * just like null. Texts that `readTime` cannot read are compared as they are.
 */
export function isSameInstant(a: string | null, b: string | null): boolean {
  if (a === b) return true;
  const [one, other] = [momentOf(a), momentOf(b)];
  if (one === null || other === null) return one === other;
  if (one === 'unreadable' || other === 'unreadable') return false;
  const [fine, coarse] = one.unitMs < other.unitMs ? [one, other] : [other, one];
  const difference = fine.ms - coarse.ms;
  return difference >= -coarse.unitMs / 2 && difference < coarse.unitMs;
}

// Matches nearly every timestamp, for a caller that needs to know only that it is one.
const plainly = /^(?:197[2-9]|19[89]\d|2\d{3})-\d\d-\d\dT/;

/** Whether a text is no timestamp: the same as null; see `isSameInstant`. */
export function isNoInstant(text: string | null): boolean {
  return text === null || (!plainly.test(text) && momentOf(text) === null);
}

/** Whether a text names a moment. */
export function isInstant(text: string | null): boolean {
  const moment = momentOf(text);
  return moment !== null && moment !== 'unreadable';
}

// Nothing but zeros and what stands between them.
const zeros = /^[0\s:.,/TZ+-]*$/i;
// Milliseconds since the epoch of the first moment at which a filing can have been completed. Systems write
// earlier ones, such as the epoch itself or 0001-01-01, for none.
const firstMs = Date.UTC(1971);

/** The moment that a text names; null for none. */
function momentOf(text: string | null): WrittenTime | 'unreadable' | null {
  if (text === null || zeros.test(text)) return null;
  const time = readTime(text);
  if (time === null) return 'unreadable';
  return time.ms < firstMs ? null : time;
}
