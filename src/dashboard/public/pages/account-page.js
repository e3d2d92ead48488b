import { html, useState } from '../html.js';
import { apiPath, useClient, useResource } from '../data/api.js';
import { AccountHeading, Counts, Health, HealthAdvice, knowledgeOf } from '../parts/account-parts.js';
import { ActionButton, useAction } from '../parts/forms.js';
import { ChipFilter } from '../parts/filters.js';
import { RejectionsTable } from '../parts/filings.js';
import { Uncovered } from '../parts/told.js';
import { duration, fullTime, number } from '../parts/format.js';
import { Badge, Facts, Failure, Notice, Section, Text, useNow, When, whenRead } from '../parts/parts.js';
import { Table } from '../parts/tables.js';
import { href, useQuery, withQuery } from '../router.js';
import { useMayWrite } from '../session.js';

/** @import { Account, Counts as Past } from '../../api-types.ts' */
/** @import { Resource } from '../data/api.js' */

const refreshMs = 5000;

/**
 * One account: the state of its polling, its rejected filings, and all of them over time.
 * @param {{ account: string }} props
 */
export function AccountPage({ account: name }) {
  /** @type {Resource<Account>} */
  const reading = useResource(apiPath('accounts', name), refreshMs);
  const { data, reload } = reading;
  const show = (/** @type {Account} */ account) =>
    html`<${Known} account=${account} /><${Trends} account=${account} />
      <${Polling} account=${account} onPoll=${reload} />`;
  return html`<${AccountHeading} account=${name} at="" title=${name}
      >${data !== null && html`<${Health} account=${data} />`}<//
    >
    ${whenRead(reading, 'the account', show)}`;
}

/** @param {{ account: Account }} props */
function Known({ account }) {
  const knowledge = knowledgeOf(account);
  const rejected = account.open ?? 0;
  const all = html`<a class="all" href=${withQuery(href('rejections'), { account: account.account })}
    >All ${number(rejected)}, oldest first</a
  >`;
  return html`<div class=${`known ${knowledge}`}>
    <${HealthAdvice} account=${account} />
    <${Uncovered} account=${account} />
    <${Counts} account=${account} />
    <${Section} title=${html`Rejected now ${rejected > 0 && all}`}>
      <${RejectionsTable} account=${account.account} knowledge=${knowledge} />
    <//>
  </div>`;
}

/** @param {{ account: Account, onPoll: () => void }} props */
function Polling({ account, onPoll }) {
  const { health, requests } = account;
  const client = useClient();
  const mayWrite = useMayWrite();
  const action = useAction();
  const [asked, setAsked] = useState('');
  const ask = (/** @type {string} */ mode, /** @type {string} */ label, /** @type {string} */ answer) => {
    const work = async () => {
      setAsked('');
      await client.send('POST', `${apiPath('accounts', account.account, 'poll')}?mode=${mode}`);
      setAsked(answer);
      onPoll();
    };
    return html`<${ActionButton} action=${action} work=${work}>${label}<//>`;
  };
  return html`<details class="fold">
    <summary>Polling</summary>
    <${Facts}
      items=${[
        ['Last complete poll', html`<${When} at=${health.lastCompletePollAt} />`],
        ['Last poll', html`<${When} at=${health.lastPollAt} />`],
        ['Last sweep', html`<${When} at=${health.lastSweepAt} />`],
        ['Polls every', duration(account.pollIntervalMs)],
        ['Sweeps every', duration(account.sweepIntervalMs)],
        ['Requests of the last poll', `${number(requests.lastPoll)} of at most ${number(requests.budget)}`],
        ['Requests in all', number(requests.total)],
        ['Failures in a row', number(health.consecutiveFailures)],
        ['Partner service', html`<${Text} value=${account.baseUrl} />`, 'wide'],
      ]}
    />
    ${
      mayWrite &&
      html`<div class="buttons">
          ${ask('delta', 'Poll now', 'The poll is on its way')}
          ${ask('sweep', 'Sweep now', 'The sweep is on its way: it reads every filing')}
        </div>
        <${Failure} error=${action.error} what="ask for a poll" />
        ${asked !== '' && html`<${Notice} tone="good">${asked}. The time of the last one shows when it was done.<//>`}`
    }
  </details>`;
}

const pastMs = 60_000;
const hourMs = 3_600_000;
const periods = /** @type {const} */ ([
  ['1', 'An hour'],
  ['6', '6 hours'],
  ['24', 'A day'],
  ['168', 'A week'],
]);

// The filings by status over the past hours: now, the lowest and the highest count, and a line whose scale is
// its own.
/** @param {{ account: Account }} props */
function Trends({ account }) {
  const [query] = useQuery();
  const age = useNow() - Date.parse(account.createdAt);
  // A day, or the shortest period that holds all of the past.
  const preset = periods.find(([hours]) => hours === '24' || age <= Number(hours) * hourMs)?.[0] ?? null;
  const hours = Number(query.get('hours') ?? preset);
  const path = `${apiPath('accounts', account.account, 'counts')}?hours=${hours}`;
  /** @type {Resource<Past>} */
  const reading = useResource(path, pastMs);
  const show = (/** @type {Past} */ past) =>
    html`<${Lines} account=${account} past=${past} hours=${hours} />`;
  return html`<${Section} title="Filings over time">
    <${ChipFilter} label="Period" name="hours" options=${periods} preset=${preset} />
    ${
      knowledgeOf(account) === 'unknown'
        ? html`<p class="empty">Not known yet: the filings were never read as a whole.</p>`
        : whenRead(reading, 'the past', show)
    }
  <//>`;
}

/** @param {{ account: Account, past: Past, hours: number }} props */
function Lines({ account, past, hours }) {
  const now = useNow();
  const rows = Object.entries(account.counts).map(([status, count]) => {
    const noted = past.items.map(({ at, counts }) => ({ at: Date.parse(at), count: counts[status] ?? 0 }));
    const points = [...noted, { at: now, count: count ?? 0 }];
    const counts = points.map((point) => point.count);
    const figures = [count ?? 0, Math.min(...counts), Math.max(...counts)].map(number);
    const line = html`<${Line} status=${status} points=${points} since=${now - hours * hourMs} />`;
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

/**
 * The number of filings in one status over time, in milliseconds. A count holds until the next one was noted.
 * @param {{ status: string, points: { at: number, count: number }[], since: number }} props
 */
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
