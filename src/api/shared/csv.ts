// Texts that a spreadsheet may take for a formula: they begin with one of these characters, which may be
// full-width or follow blanks (OWASP, CSV Injection).
const formula = /^[\s\0\uFEFF]*[=+\-@＝＋－＠]|^[\t\r\n]/u;

/**
 * One line of CSV (RFC 4180), with its line break; pure. Null is an empty cell. Texts that a spreadsheet
 * would take for a formula get an apostrophe in front, which spreadsheets hide; numbers stay numbers.
 */
export function csvLine(cells: readonly (string | number | boolean | null)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

/**
 * Whether a client prefers CSV to JSON by its Accept header (RFC 9110 §12.5.1). The header has to name
 * `text/csv`; pure.
 */
export function wantsCsv(accept: string | undefined): boolean {
  const csv = qualityOf(accept, 'text/csv');
  return csv > 0 && csv >= qualityOf(accept, 'application/json');
}

function csvCell(value: string | number | boolean | null): string {
  if (typeof value !== 'string') return value === null ? '' : String(value);
  const text = formula.test(value) ? `'${value}` : value;
  return /[",;\r\n\t]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
}

function qualityOf(accept = '', type: string): number {
  const ranges = accept.split(',').map((range) => range.split(';').map((part) => part.trim().toLowerCase()));
  const parameters = ranges.find(([name]) => name === type)?.slice(1);
  if (parameters === undefined) return 0;
  const quality = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  return quality === undefined ? 1 : Number(quality) || 0;
}
