const iso = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/i;

/**
 * Whether two timestamps name the same moment, to the millisecond. "10:00:03Z" and "10:00:03.000+00:00" do: a
 * release of the service may write them differently (docs/partner.md#timestamps). A timestamp without a zone
 * is taken for UTC; texts that are not ISO 8601 are compared as they are.
 */
export function isSameInstant(a: string | null, b: string | null): boolean {
  if (a === b) return true;
  if (a === null || b === null) return false;
  return toEpochMs(a) === toEpochMs(b);
}

function toEpochMs(text: string): number {
  const match = iso.exec(text);
  if (match === null) return Number.NaN;
  const zoned = match[1] === undefined && text.length > 10 ? `${text}Z` : text;
  return Date.parse(zoned.replace(' ', 'T'));
}
