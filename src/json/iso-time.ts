/** Milliseconds since the epoch as ISO 8601 in UTC; 0 means never and is null. */
export function isoOrNull(ms: number): string | null {
  return ms === 0 ? null : new Date(ms).toISOString();
}
