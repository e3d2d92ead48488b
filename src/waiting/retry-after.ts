/** Maximum milliseconds of a pause that a receiver can ask for. */
export const retryAfterMaxMs = 3_600_000;

/**
 * Reads a `Retry-After` value (RFC 9110 §10.2.3), seconds or an HTTP date, as milliseconds from `nowMs`: 0
 * for a moment that has passed, never above retryAfterMaxMs, null when it is missing or neither of the
 * two. Fractions and exponents are understood although no RFC allows them.
 */
export function parseRetryAfter(value: string | null | undefined, nowMs: number): number | null {
  const text = value?.trim() ?? '';
  const delayMs = /^\d+(?:\.\d+)?(?:e\+?\d+)?$/i.test(text)
    ? Number(text) * 1000
    : parseHttpDate(text) - nowMs;
  if (Number.isNaN(delayMs)) return null;
  return Math.round(Math.min(Math.max(delayMs, 0), retryAfterMaxMs));
}

const imfFixdate = /^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/;
const rfc850 = /^[A-Z][a-z]+day, \d{2}-[A-Z][a-z]{2}-\d{2} \d{2}:\d{2}:\d{2} GMT$/;
const asctime = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d{2}:\d{2}:\d{2} \d{4}$/;

/**
 * The three forms of RFC 9110 §5.6.7 in epoch milliseconds, or NaN: Date.parse alone takes almost any text
 * for a date.
 */
function parseHttpDate(text: string): number {
  if (imfFixdate.test(text) || rfc850.test(text)) return Date.parse(text);
  return asctime.test(text) ? Date.parse(`${text} GMT`) : Number.NaN;
}
