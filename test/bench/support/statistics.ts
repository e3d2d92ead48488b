/** The middle of some numbers, NaN of none. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** The value below which a share of them lies, NaN of none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** One line of figures, each with its unit behind it. Throws where one is of nothing measured. */
export function print(label: string, figures: Readonly<Record<string, number | string>>): void {
  const parts = Object.entries(figures).map(([name, value]) => `${name} ${format(name, value)}`);
  process.stdout.write(`  ${label.padEnd(34)} ${parts.join('   ')}\n`);
}

/** A table of figures: a line for each name that any column has, under the columns' titles. */
export function printTable(
  title: string,
  columns: readonly string[],
  figures: readonly Readonly<Record<string, number>>[],
): void {
  const line = (label: string, cells: readonly string[]) =>
    process.stdout.write(`  ${label.padEnd(28)}${cells.map((cell) => cell.padStart(10)).join('')}\n`);
  line(title, columns);
  for (const name of new Set(figures.flatMap((column) => Object.keys(column))))
    line(
      name,
      figures.map((column) => (column[name] === undefined ? '' : format(name, column[name]))),
    );
}

function format(name: string, value: number | string): string {
  if (typeof value === 'string') return value;
  if (!Number.isFinite(value)) throw new Error(`nothing was measured: ${name} is ${value}`);
  return value >= 100 ? value.toFixed(0) : value.toFixed(2);
}
