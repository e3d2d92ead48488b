import type { Row } from './results.ts';

const [width, height] = [870, 380];
const [left, right, top, bottom] = [64, 330, 40, 44];
const labelHeight = 15;
// Of the same lightness, so that each is readable on white and on black.
const colours = ['#2f7ed8', '#d9822b', '#2ca25f', '#c2528b', '#8064c8', '#7f7f7f', '#b8860b'];

interface Scale {
  readonly from: number;
  readonly to: number;
  /** Pixels of a value. */
  at(value: number): number;
}

/**
 * An SVG with a curve for each of some columns over the first one, both axes logarithmic: a straight line at
 * 45 degrees grows as its cause does, a flat one not at all. Readable in light and in dark; pure.
 */
export function drawCurves(title: string, rows: readonly Row[], names: readonly string[]): string {
  const [cause = ''] = Object.keys(rows[0] ?? {});
  const xs = rows.map((row) => Number(row[cause]));
  const shown = names.filter((name) => rows.some((row) => Number(row[name]) > 0));
  const values = shown.flatMap((name) => rows.map((row) => Number(row[name]))).filter((value) => value > 0);
  const x = scale(Math.min(...xs), Math.max(...xs), left, width - right);
  const y = scale(Math.min(...values), Math.max(...values), height - bottom, top);
  const ends = spread(shown.map((name) => y.at(lastOf(rows, name))));
  const parts = [
    `<text x="${left}" y="22" class="title">${escape(title)}, by ${escape(cause)}</text>`,
    ...powers(y).map(
      (value) =>
        `<line x1="${left}" x2="${width - right}" y1="${px(y.at(value))}" y2="${px(y.at(value))}" class="grid"/>` +
        `<text x="${left - 8}" y="${px(y.at(value) + 4)}" class="tick" text-anchor="end">${short(value)}</text>`,
    ),
    ...xs.map(
      (value) =>
        `<text x="${px(x.at(value))}" y="${height - bottom + 20}" class="tick" text-anchor="middle">${short(value)}</text>`,
    ),
    ...shown.map((name, i) =>
      curve(rows, { cause, name, x, y, end: ends[i] ?? 0, colour: colours[i % colours.length] ?? '' }),
    ),
  ];
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escape(title)}, by ${escape(cause)}">\n` +
    `<style>text{font:12px system-ui,sans-serif;fill:#24292f}.title{font-size:14px;font-weight:600}.grid{stroke:#d0d7de}.back{fill:#fff}` +
    `@media (prefers-color-scheme:dark){text{fill:#e6edf3}.grid{stroke:#3d444d}.back{fill:#0d1117}}</style>\n` +
    `<rect width="${width}" height="${height}" class="back"/>\n${parts.join('\n')}\n</svg>\n`
  );
}

interface Curve {
  readonly cause: string;
  readonly name: string;
  readonly x: Scale;
  readonly y: Scale;
  /** Pixels from the top at which the name stands. */
  readonly end: number;
  readonly colour: string;
}

function curve(rows: readonly Row[], { cause, name, x, y, end, colour }: Curve): string {
  const points = rows
    .filter((row) => Number(row[name]) > 0)
    .map((row) => [px(x.at(Number(row[cause]))), px(y.at(Number(row[name])))] as const);
  const line = points.map((point) => point.join(',')).join(' ');
  const dots = points.map(([cx, cy]) => `<circle cx="${cx}" cy="${cy}" r="3" fill="${colour}"/>`).join('');
  return (
    `<polyline points="${line}" fill="none" stroke="${colour}" stroke-width="2"/>${dots}` +
    `<text x="${width - right + 10}" y="${px(end + 4)}" style="fill:${colour}">${escape(name)}: ${short(lastOf(rows, name))}</text>`
  );
}

function scale(least: number, most: number, fromPx: number, toPx: number): Scale {
  const from = Math.log10(least);
  const to = most > least ? Math.log10(most) : from + 1;
  const at = (value: number) => fromPx + ((Math.log10(value) - from) / (to - from)) * (toPx - fromPx);
  return { from: least, to: most, at };
}

// The last value of a column that has one, which may end before the others.
function lastOf(rows: readonly Row[], name: string): number {
  return Number(rows.findLast((row) => Number(row[name]) > 0)?.[name]);
}

// Powers of ten within a scale.
function powers({ from, to }: Scale): number[] {
  const all: number[] = [];
  for (let power = Math.ceil(Math.log10(from)); 10 ** power <= to; power += 1) all.push(10 ** power);
  return all;
}

// Moves places of labels apart, in their order from the top.
function spread(places: readonly number[]): number[] {
  const order = places.map((at, i) => ({ at, i })).toSorted((a, b) => a.at - b.at);
  const moved: number[] = [];
  let next = top;
  for (const { at, i } of order) {
    moved[i] = Math.max(at, next);
    next = (moved[i] ?? 0) + labelHeight;
  }
  return moved;
}

function px(value: number): string {
  return value.toFixed(1);
}

function short(value: number): string {
  if (value >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`;
  if (value >= 1e3) return `${Number((value / 1e3).toPrecision(3))}k`;
  return String(Number(value.toPrecision(3)));
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
