import { useState } from '../vendor/hooks.js';
import { html } from '../html.js';
import { apiPath } from '../data/api-client.js';
import { knowledgeOf } from '../data/knowledge.js';
import { useResource } from '../data/use-resource.js';
import { fullTime, number } from './format.js';
import { Badge, Failure, Loading, Section, useNow } from './parts.js';
import { Table } from './table.js';

/** @import { Account, Counts } from '../../api-types.ts' */
/** @import { Resource } from '../data/use-resource.js' */

/**
 * The number of filings in one status at one time, in milliseconds.
 * @typedef {{ at: number, count: number }} Point
 */

const refreshMs = 60_000;
const periods = /** @type {const} */ ([
  ['6 hours', 6],
  ['A day', 24],
  ['A week', 168],
]);

/**
 * The filings of an account by status over the past hours: now, the lowest and the highest count, and a line
 * with a scale of its own.
 * @param {{ account: Account }} props
 */
export function Trends({ account }) {
  const [hours, setHours] = useState(24);
  const path = `${apiPath('accounts', account.account, 'counts')}?hours=${hours}`;
  /** @type {Resource<Counts>} */
  const { data, error } = useResource(path, refreshMs);
  const isKnown = knowledgeOf(account) !== 'unknown';
  return html`<${Section} title="Filings over time">
    <div class="chips" role="group" aria-label="Period">
      ${periods.map(
        ([label, value]) =>
          html`<button
            key=${label}
            type="button"
            aria-pressed=${value === hours}
            onClick=${() => setHours(value)}
          >
            ${label}
          </button>`,
      )}
    </div>
    <${Failure} error=${error} what="read the past" />
    ${!isKnown && html`<p class="empty">Not known yet: the filings were never read as a whole.</p>`}
    ${isKnown && data === null && error === null && html`<${Loading} what="the past" />`}
    ${isKnown && data !== null && html`<${Lines} account=${account} past=${data} hours=${hours} />`}
  <//>`;
}

/** @param {{ account: Account, past: Counts, hours: number }} props */
function Lines({ account, past, hours }) {
  const now = useNow();
  const rows = Object.entries(account.counts).map(([status, count]) => {
    const noted = past.items.map(({ at, counts }) => ({ at: Date.parse(at), count: counts[status] ?? 0 }));
    const points = [...noted, { at: now, count: count ?? 0 }];
    const counts = points.map((point) => point.count);
    const figures = [count ?? 0, Math.min(...counts), Math.max(...counts)].map(number);
    const line = html`<${Line} status=${status} points=${points} since=${now - hours * 3_600_000} />`;
    const badge = html`<${Badge} word=${status} />`;
    const [present, lowest, highest] = figures;
    const span = html`<span class="quiet">${lowest} to ${highest}</span>`;
    const card = html`<div class="card-line">
        ${badge} <span>${span} <strong>${present}</strong></span>
      </div>
      ${line}`;
    return { key: status, cells: [badge, ...figures, line], card };
  });
  return html`<${Table}
    caption="Filings over time"
    columns=${['Status', 'Now', 'Lowest', 'Highest', 'Line']}
    numbers=${['Now', 'Lowest', 'Highest']}
    rows=${rows}
    empty=""
  />`;
}

// A count holds until the next one was noted.
/** @param {{ status: string, points: Point[], since: number }} props */
function Line({ status, points, since }) {
  const [first, last] = [points[0], points.at(-1)];
  if (first === undefined || last === undefined) return null;
  const counts = points.map(({ count }) => count);
  const [lowest, highest] = [Math.min(...counts), Math.max(...counts)];
  const x = (/** @type {number} */ at) => Math.max(0, ((at - since) / (last.at - since)) * 100).toFixed(2);
  const y = (/** @type {number} */ count) =>
    highest === lowest ? 12 : (23 - ((count - lowest) / (highest - lowest)) * 22).toFixed(1);
  const path = points.map(({ at, count }, place) =>
    place === 0 ? `M${x(at)} ${y(count)}` : `H${x(at)}V${y(count)}`,
  );
  const text = `${status} from ${first.count} on ${fullTime(first.at)} to ${last.count} now`;
  return html`<svg
    class="trend"
    role="img"
    aria-label=${text}
    viewBox="0 0 100 24"
    preserveAspectRatio="none"
  >
    <path d=${path.join('')} />
  </svg>`;
}
