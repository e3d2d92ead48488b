import { printable } from '../demo/callback-line.ts';

/** One column: its heading and its text of a row. */
export interface Column<T> {
  readonly heading: string;
  readonly text: (row: T) => string | number | null;
}

const cellLengthMax = 60;

/**
 * Rows under headings, in columns as wide as needed. Null appears as a dash, and no text of a row can move
 * the cursor of the terminal.
 */
export function formatTable<T>(columns: readonly Column<T>[], rows: readonly T[]): string {
  const cells = rows.map((row) =>
    columns.map(({ text }) => printable(String(text(row) ?? '-'), cellLengthMax)),
  );
  const lines = [columns.map(({ heading }) => heading), ...cells];
  const widths = columns.map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)));
  return lines
    .map((line) =>
      line
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** The fields of an object, one a line. */
export function formatFields(fields: Readonly<Record<string, unknown>>): string {
  const width = Math.max(...Object.keys(fields).map((name) => name.length));
  return Object.entries(fields)
    .map(([name, value]) => `${name.padEnd(width)}  ${printable(fieldText(value), 200)}`)
    .join('\n');
}

function fieldText(value: unknown): string {
  if (value === null) return '-';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
