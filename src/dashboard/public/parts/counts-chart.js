import { useEffect, useRef, useState, useMemo } from '../vendor/hooks.js';
import { uPlot } from '../vendor/uplot.js';
import { axisTime, clockTime, fullTime, number } from './format.js';
import { html } from '../html.js';
import { Text } from './parts.js';
import { apiPath } from '../data/api-client.js';
import { useResource } from '../data/use-resource.js';
import { knowledgeOf } from '../data/knowledge.js';

/** @import { ComponentChildren } from 'preact' */
/** @import { Account } from '../../api-types.ts' */
/** @import { Resource } from '../data/use-resource.js' */

const heightPx = 220;

// The lines differ by dashes as well as by colour.
const dashes = [[8, 4], [10, 3, 2, 3], [2, 3], [4, 4], []];
const colours = ['--warn', '--info', '--busy', '--good', '--bad'];

/**
 * The counts per status over time, with a switch for each status and a caption above; `empty` stands in its
 * place while there is no line to draw. It shows the whole period, however much of it is known.
 * @param {{ samples: Sample[], hours: number, empty: ComponentChildren, children?: ComponentChildren }} props
 */
export function CountsChart({ samples, hours, empty, children }) {
  const statuses = Object.keys(samples.at(-1)?.counts ?? {});
  // Nearly all filings are COMPLETED: their line would flatten the others.
  const [hidden, setHidden] = useState(/** @type {readonly string[]} */ (['COMPLETED']));
  const toggle = (/** @type {string} */ status) =>
    setHidden(hidden.includes(status) ? hidden.filter((other) => other !== status) : [...hidden, status]);
  const shown = statuses.filter((status) => !hidden.includes(status));
  return html`<div class="chart">
    ${children}
    ${samples.length < 2 ? empty : html`<${Lines} samples=${samples} hours=${hours} statuses=${statuses} shown=${shown} />`}
    <fieldset class="legend">
      <legend class="hidden">Statuses in the chart</legend>
      ${statuses.map(
        (status, place) =>
          html`<label key=${status}>
            <input type="checkbox" checked=${shown.includes(status)} onChange=${() => toggle(status)} />
            <${Stroke} place=${place} /><${Text} value=${status} />
          </label>`,
      )}
    </fieldset>
  </div>`;
}

/** @param {{ place: number }} props */
function Stroke({ place }) {
  return html`<svg class="stroke" viewBox="0 0 24 4" width="24" height="4" aria-hidden="true">
    <line
      x1="0"
      y1="2"
      x2="24"
      y2="2"
      stroke=${`var(${colourOf(place)})`}
      stroke-width="3"
      stroke-dasharray=${dashOf(place).join(' ')}
    />
  </svg>`;
}

/** @param {{ samples: Sample[], hours: number, statuses: string[], shown: string[] }} props */
function Lines({ samples, hours, statuses, shown }) {
  const [pointed, setPointed] = useState(/** @type {number | null} */ (null));
  const period = useRef(hours);
  period.current = hours;
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const plot = useRef(/** @type {import('uplot') | null} */ (null));
  const dark = useDark();
  const key = statuses.join('\n');

  useEffect(() => {
    const element = /** @type {HTMLDivElement} */ (box.current);
    const options = optionsFor(element, statuses, shown, {
      hours: () => period.current,
      onPoint: setPointed,
    });
    // The chart is made with its data: an empty one would keep an empty scale until the next reading.
    plot.current = new uPlot(options, columnsOf(samples, statuses), element);
    const resize = new ResizeObserver(() =>
      plot.current?.setSize({ width: element.clientWidth, height: heightPx }),
    );
    resize.observe(element);
    return () => {
      resize.disconnect();
      plot.current?.destroy();
    };
  }, [key, dark]);
  useEffect(() => {
    statuses.forEach((status, place) => plot.current?.setSeries(place + 1, { show: shown.includes(status) }));
  }, [shown.join('\n')]);
  useEffect(() => plot.current?.setData(columnsOf(samples, statuses)), [samples, hours]);

  const sample = samples[pointed ?? samples.length - 1];
  return html`<div ref=${box} class="plot" role="img" aria-label=${summaryOf(samples, shown)}></div>
    ${sample !== undefined && html`<${Readout} sample=${sample} shown=${shown} isNow=${pointed === null} />`}`;
}

// The values under the pointer, or the latest ones.
/** @param {{ sample: Sample, shown: string[], isNow: boolean }} props */
function Readout({ sample: { at, counts }, shown, isNow }) {
  return html`<p class="readout quiet">
    <span>${isNow ? 'Now' : clockTime(at, Date.now())}</span>
    ${shown.map(
      (status) =>
        html`<span key=${status}
          ><${Text} value=${status} /> <strong>${number(counts[status] ?? 0)}</strong></span
        >`,
    )}
  </p>`;
}

/** @type {(samples: Sample[], statuses: string[]) => import('uplot').AlignedData} */
function columnsOf(samples, statuses) {
  return [
    samples.map(({ at }) => at / 1000),
    ...statuses.map((status) => samples.map(({ counts }) => counts[status] ?? 0)),
  ];
}

/**
 * @typedef {object} Watch
 * @property {() => number} hours how far the chart reaches back
 * @property {(place: number | null) => void} onPoint which sample is under the pointer
 */

/**
 * @type {(element: HTMLElement, statuses: string[], shown: string[], watch: Watch) =>
 * import('uplot').Options}
 */
function optionsFor(element, statuses, shown, { hours, onPoint }) {
  const colour = (/** @type {string} */ name) => resolveColour(element, name);
  const axis = {
    stroke: colour('--quiet'),
    grid: { stroke: colour('--line'), width: 1 },
    ticks: { show: false },
  };
  return {
    width: element.clientWidth,
    height: heightPx,
    padding: [8, 32, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { setScale: false, x: false, y: false }, points: { size: 7 } },
    hooks: { setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)] },
    scales: {
      x: { range: (_, __, last) => [Math.min(last - hours() * 3600, last - 1), last] },
      y: { range: (_, __, most) => [0, Math.max(5, Math.ceil(most * 1.1))] },
    },
    axes: [
      { ...axis, values: (_, times) => timeLabels(times), space: 80, size: 32 },
      {
        ...axis,
        values: (_, counts) => counts.map((count) => (Number.isInteger(count) ? number(count) : '')),
        size: 60,
      },
    ],
    series: [
      {},
      ...statuses.map((status, place) => ({
        label: status,
        show: shown.includes(status),
        stroke: colour(colourOf(place)),
        width: 2,
        dash: dashOf(place),
        points: { show: false },
        paths: uPlot.paths.stepped?.({ align: 1 }),
      })),
    ],
  };
}

/** @type {(seconds: number[]) => string[]} */
function timeLabels(seconds) {
  const spanMs = ((seconds.at(-1) ?? 0) - (seconds[0] ?? 0)) * 1000;
  return seconds.map((time) => axisTime(time * 1000, spanMs));
}

// A canvas knows no CSS variables: their value is read from an element in that colour.
/** @type {(element: HTMLElement, name: string) => string} */
function resolveColour(element, name) {
  element.style.color = `var(${name})`;
  return getComputedStyle(element).color;
}

function useDark() {
  const [dark, setDark] = useState(() => matchMedia('(prefers-color-scheme: dark)').matches);
  useEffect(() => {
    const query = matchMedia('(prefers-color-scheme: dark)');
    const follow = () => setDark(query.matches);
    query.addEventListener('change', follow);
    return () => query.removeEventListener('change', follow);
  }, []);
  return dark;
}

/** @type {(samples: Sample[], shown: string[]) => string} */
function summaryOf(samples, shown) {
  const first = samples[0];
  const last = samples.at(-1);
  if (first === undefined || last === undefined) return 'No readings yet';
  const changes = shown.map(
    (status) => `${status} ${first.counts[status] ?? 0} to ${last.counts[status] ?? 0}`,
  );
  return `Filings per status from ${fullTime(first.at)} to ${fullTime(last.at)}: ${changes.join(', ')}`;
}

/** @type {(place: number) => string} */
const colourOf = (place) => colours[place] ?? '--quiet';

/** @type {(place: number) => number[]} */
const dashOf = (place) => dashes[place] ?? [4, 4];

/**
 * The number of an account's filings in each status at one time.
 * @typedef {{ at: number, counts: Record<string, number | null> }} Sample `at`: milliseconds
 */

const samplesMax = 1000;
const refreshMs = 60_000;

/**
 * The samples of an account with one more; pure. If there are too many, every second one of the older half is
 * dropped.
 * @param {Sample[]} samples
 * @param {Sample} sample
 */
export function withSample(samples, sample) {
  const all = [...samples, sample];
  if (all.length <= samplesMax) return all;
  return all.filter((_, place) => place % 2 === 0 || place > samplesMax / 2);
}

/**
 * The samples that the daemon has stored over the past hours, then those that this page has read since it was
 * opened, oldest first; pure.
 * @param {{ at: string, counts: Record<string, number> }[]} noted
 * @param {Sample[]} read
 */
export function joinSamples(noted, read) {
  const past = noted.map(({ at, counts }) => ({ at: Date.parse(at), counts }));
  const from = read[0]?.at ?? Number.POSITIVE_INFINITY;
  return [...past.filter(({ at }) => at < from), ...read];
}

/**
 * The filings of an account by status over the past hours up to now, one more for each new reading; whether
 * the past was read, and why it could not be.
 * @param {string} name
 * @param {Account | null} account as last read
 * @param {number} hours
 * @param {number} now milliseconds
 */
export function useSamples(name, account, hours, now) {
  const [read, setRead] = useState(/** @type {Sample[]} */ ([]));
  /** @type {Resource<{ items: { at: string, counts: Record<string, number> }[] }>} */
  const { data, error } = useResource(`${apiPath('accounts', name, 'counts')}?hours=${hours}`, refreshMs);
  useEffect(() => {
    if (account !== null && knowledgeOf(account) !== 'unknown')
      setRead((before) => withSample(before, { at: now, counts: account.counts }));
    // A reading is a new object; a new time alone adds no sample.
  }, [account]);
  const samples = useMemo(() => joinSamples(data?.items ?? [], read), [data, read]);
  return { samples, isRead: data !== null, error };
}
