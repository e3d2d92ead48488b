import { readFile, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { print } from '../support/statistics.ts';

/** The figures of one size or one number of processes; the first is what the others depend on. */
export type Row = Readonly<Record<string, number | string>>;

/** What a part of the benchmark has measured. */
interface PartResult {
  readonly measuredAt: string;
  readonly node: string;
  readonly processors: string;
  /** Of the machine, over the minute before: above the number of processors others were at work. */
  readonly load: number;
  readonly rows: readonly Row[];
}

/** Results by part. */
export type Results = Readonly<Record<string, PartResult>>;

const file =
  process.env['BENCH_OUTPUT'] ?? fileURLToPath(new URL('../../../docs/images/scale.json', import.meta.url));

/** All results so far; none where there is no file. */
export async function readResults(): Promise<Results> {
  return readFile(file, 'utf8').then(
    (text) => JSON.parse(text) as Results,
    () => ({}),
  );
}

/**
 * Prints a row, its numbers rounded to three digits, and keeps it in the file `BENCH_OUTPUT`
 * (docs/images/scale.json). It replaces the part's former row with the same first value.
 */
export async function record(part: string, row: Row): Promise<void> {
  const rounded = Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name, typeof value === 'number' ? round(value) : value]),
  );
  print(part, rounded);
  const results = await readResults();
  const first = (each: Row) => Object.values(each)[0];
  const others = (results[part]?.rows ?? []).filter((each) => first(each) !== first(rounded));
  const result: PartResult = {
    measuredAt: new Date().toISOString().slice(0, 16),
    node: process.version,
    processors: `${availableParallelism()} × ${cpus()[0]?.model ?? 'unknown'}`,
    load: Math.round((loadavg()[0] ?? 0) * 10) / 10,
    rows: [...others, rounded].toSorted((a, b) => Number(first(a)) - Number(first(b))),
  };
  await writeFile(file, `${JSON.stringify({ ...results, [part]: result }, null, 2)}\n`);
}

function round(value: number): number {
  return Math.abs(value) >= 1_000 ? Math.round(value) : Number(value.toPrecision(3));
}

/** Sizes to measure: those of `BENCH_SIZES`, or the part's own. */
export function sizesOf(own: readonly number[]): readonly number[] {
  const asked = process.env['BENCH_SIZES'];
  return asked === undefined ? own : asked.split(',').map(Number);
}
