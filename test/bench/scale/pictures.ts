import { readFile, writeFile } from 'node:fs/promises';
import { drawCurves } from './curves.ts';
import { readResults, type PartResult, type Row } from './results.ts';

const docs = new URL('../../../docs/', import.meta.url);

/** The columns that a picture shows, by part; a table shows all. */
const curves: Readonly<Record<string, readonly string[]>> = {
  delivering: ['daemon µs', 'Redis µs', 'receiver µs'],
  polling: ['daemon ms', 'Redis ms', 'partner ms'],
  accounts: [
    'creation and first poll: daemon ms',
    'poll: daemon ms',
    'poll: Redis ms',
    'callback: daemon ms',
    'page of 100: daemon ms',
    'Redis KiB an account',
    'daemon MiB',
  ],
  filings: [
    'Redis bytes a filing',
    'poll: daemon ms',
    'poll with 4 changes, more: daemon ms',
    'sweep of a thousand: daemon ms',
    'newest PENDING, first time: Redis ms',
    'COMPLETED page: daemon ms',
    'removal: Redis ms',
  ],
  spread: [
    'Redis bytes a filing',
    'poll: daemon ms',
    'poll: Redis ms',
    'sweep of an account: daemon ms',
    'daemon MiB',
  ],
  events: [
    'Redis bytes an event',
    'append of a thousand: Redis ms',
    'callback: daemon ms',
    'oldest page: daemon ms',
    'page of a type that none has: daemon ms',
    'replay of a type, first time: daemon ms',
    'trim of a thousand: Redis ms',
  ],
  subscriptions: [
    'Redis bytes each',
    'creation: daemon ms',
    'idle, a poll a second: daemon ms a second',
    'poll with 4 changes for one subscription: daemon ms',
    'poll with 4 changes for one subscription: Redis ms',
    'page of 100: daemon ms',
  ],
};

// The figures that some parts have of many operations, in a table of their own.
const ofCommands = ': longest command ms';
const partsWithCommands: ReadonlySet<string> = new Set(['filings', 'events']);

/**
 * Draws a picture of each part into docs/images, and replaces its table in docs/scaling.md, which stands
 * between two comments with the part's name, and for parts with many operations that of the longest commands.
 */
export async function drawAll(): Promise<void> {
  const results = await readResults();
  const page = new URL('scaling.md', docs);
  let text = await readFile(page, 'utf8');
  for (const [part, names] of Object.entries(curves)) {
    const result = results[part];
    if (result === undefined) continue;
    // oxlint-disable-next-line no-await-in-loop
    await writeFile(new URL(`images/scale-${part}.svg`, docs), drawCurves(part, result.rows, names));
    if (partsWithCommands.has(part)) {
      text = withTable(
        text,
        part,
        onlyOf(result, (name) => !name.endsWith(ofCommands)),
      );
      text = withTable(text, `${part}-commands`, commandsOf(result), part);
    } else text = withTable(text, part, result);
  }
  await writeFile(page, text);
}

function onlyOf(result: PartResult, isShown: (name: string) => boolean): PartResult {
  const rows = result.rows.map((row) =>
    Object.fromEntries(Object.entries(row).filter(([name]) => isShown(name))),
  );
  return { ...result, rows };
}

// Their names without what they have in common; a command below a millisecond was not noted.
function commandsOf(result: PartResult): PartResult {
  const [cause = ''] = Object.keys(result.rows[0] ?? {});
  const { rows } = onlyOf(result, (name) => name === cause || name.endsWith(ofCommands));
  const shown = rows.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, value]) => [name.replace(ofCommands, ''), value === 0 ? '< 1' : value]),
    ),
  );
  return { ...result, rows: shown };
}

function withTable(text: string, place: string, result: PartResult, part = place): string {
  const [from, to] = [`<!-- scale:${place} -->`, `<!-- /scale:${place} -->`];
  const [start, end] = [text.indexOf(from), text.indexOf(to)];
  if (start < 0 || end < start)
    throw new Error(`docs/scaling.md has no place for the table ${place}: ${from} … ${to}`);
  const { measuredAt, node, processors, load } = result;
  const source = `\`BENCH_PARTS=${part} npm run bench -- scale\`, ${measuredAt} UTC, ${processors}, Node ${node.slice(1)}, load ${load}.`;
  return `${text.slice(0, start + from.length)}\n\n${table(result.rows)}\n\n${source}\n\n${text.slice(end)}`;
}

// With a column for each size, as there are more figures than sizes.
function table(rows: readonly Row[]): string {
  const names = [...new Set(rows.flatMap(Object.keys))];
  const cells = names.map((name) => [name, ...rows.map((row) => format(row[name]))]);
  const widths = rows.map((_, i) => Math.max(3, ...cells.map((line) => (line[i + 1] ?? '').length)));
  const first = Math.max(...names.map((name) => name.length));
  const line = ([name = '', ...values]: readonly string[]) =>
    `| ${name.padEnd(first)} | ${values.map((value, i) => value.padStart(widths[i] ?? 0)).join(' | ')} |`;
  const [head = [], ...others] = cells.map(line);
  const rule = `| ${'-'.repeat(first)} | ${widths.map((width) => `${'-'.repeat(width - 1)}:`).join(' | ')} |`;
  return [head, rule, ...others].join('\n');
}

function format(value: number | string | undefined): string {
  if (typeof value !== 'number') return value ?? '';
  return value >= 1_000 ? value.toLocaleString('en').replaceAll(',', ' ') : String(value);
}
