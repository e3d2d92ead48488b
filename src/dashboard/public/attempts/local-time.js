/** The time zone of the browser with its present distance from UTC, such as "Europe/Berlin (GMT+1)". */
export function timeZone() {
  const format = new Intl.DateTimeFormat('en-US', { timeZoneName: 'shortOffset' });
  const offset = format.formatToParts().find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const zone = format.resolvedOptions().timeZone;
  return zone === offset ? zone : `${zone} (${offset})`;
}

/**
 * A time of the API as a field for local time takes it; empty for none.
 * @param {string | null} iso
 */
export function toLocal(iso) {
  const at = new Date(iso ?? '');
  if (Number.isNaN(at.getTime())) return '';
  const two = (/** @type {number} */ part) => String(part).padStart(2, '0');
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join('-');
  return `${day}T${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

/**
 * The text of a field for local time as a time of the API; null for none.
 * @param {string} text
 */
export function fromLocal(text) {
  const at = new Date(text);
  return text === '' || Number.isNaN(at.getTime()) ? null : at.toISOString();
}
