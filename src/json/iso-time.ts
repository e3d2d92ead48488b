/** Milliseconds since the epoch as ISO 8601 in UTC; 0 means never and is null. */
export function isoOrNull(ms: number): string | null {
  return ms === 0 ? null : new Date(ms).toISOString();
}

const iso = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/i;

/**
 * An ISO 8601 timestamp in milliseconds since the epoch; NaN for any other text. Without a zone it is taken
 * for UTC, wherever the process runs.
 */
export function epochMsOf(text: string): number {
  const match = iso.exec(text);
  if (match === null) return Number.NaN;
  const zoned = match[1] === undefined && text.length > 10 ? `${text}Z` : text;
  return Date.parse(zoned.replace(' ', 'T'));
}
