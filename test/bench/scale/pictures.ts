import { readFile, writeFile } from 'node:fs/promises';
import { drawCurves } from './curves.ts';
import { readResults, type PartResult, type Row } from './results.ts';

const docs = new URL('../../../docs/', import.meta.url);

/** The figures that the picture of a part and the list show. */
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

const [from, to] = ['<!-- scale -->', '<!-- /scale -->'];

/** Draws a picture of each part into docs/images, and replaces the list of docs/scaling.md between two comments. */
export async function drawAll(): Promise<void> {
  const results = await readResults();
  const parts = Object.entries(curves).flatMap(([part, names]) => {
    const result = results[part];
    return result === undefined ? [] : [{ part, names, result }];
  });
  await Promise.all(
    parts.map(({ part, names, result }) =>
      writeFile(new URL(`images/scale-${part}.svg`, docs), drawCurves(part, result.rows, names)),
    ),
  );
  const page = new URL('scaling.md', docs);
  const text = await readFile(page, 'utf8');
  const [start, end] = [text.indexOf(from), text.indexOf(to)];
  if (start < 0 || end < start) throw new Error(`docs/scaling.md has no place for the list: ${from} … ${to}`);
  const list = parts.map(({ part, names, result }) => itemOf(part, names, result)).join('\n');
  await writeFile(page, `${text.slice(0, start + from.length)}\n\n${list}\n\n${text.slice(end)}`);
}

// The figures of a part, each at the smallest and the largest size.
function itemOf(part: string, names: readonly string[], { rows, measuredAt }: PartResult): string {
  const [cause = ''] = Object.keys(rows[0] ?? {});
  const sizes = `${format(rows[0]?.[cause])} → ${format(rows.at(-1)?.[cause])} ${cause}`;
  const figures = names.map((name) => `  ${figureOf(name, cause, rows)}`).join(';\n');
  return `- **${part}**, ${sizes} (${measuredAt.slice(0, 10)}):\n${figures}`;
}

// The sizes stand behind a figure that was not measured at the part's smallest and largest one; ✗ marks a figure
// that grows more than its cause does.
function figureOf(name: string, cause: string, rows: readonly Row[]): string {
  const measured = rows.filter((row) => typeof row[name] === 'number' && row[name] !== 0);
  const [first, last] = [measured[0], measured.at(-1)];
  const change = (key: string) => [...new Set([first, last])].map((row) => format(row?.[key])).join(' → ');
  const growth = (key: string) => Number(last?.[key]) / Number(first?.[key]);
  const sizes = first === rows[0] && last === rows.at(-1) ? '' : ` (${change(cause)})`;
  const missed = growth(name) > growth(cause) * 1.2 ? ' ✗' : '';
  return `${name} ${change(name)}${sizes}${missed}`;
}

function format(value: number | string | undefined): string {
  if (typeof value !== 'number') return value ?? '';
  return value >= 1_000 ? value.toLocaleString('en').replaceAll(',', ' ') : String(value);
}
