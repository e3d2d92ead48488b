import { apiPath } from '../data/api-client.js';
import { deliveryStats } from '../data/delivery-stats.js';
import { duration, fromLocal, timeZone, toLocal } from '../parts/format.js';
import { html } from '../html.js';
import { Badge, Failure, FilingLink, Loading, Text, When } from '../parts/parts.js';
import { Table } from '../parts/table.js';
import { outcomeName, outcomeTone, outcomes } from './outcomes.js';
import { useList } from '../data/use-resource.js';
import { href, withQuery, useQuery } from '../router.js';

/** @import { Attempt, DeadLetter } from '../../api-types.ts' */
/** @import { List } from '../data/use-resource.js' */
/** @import { ComponentChildren } from 'preact' */

const refreshMs = 5000;
// The daemon looks through all attempts for those that match.
const filteredMs = 15_000;

/**
 * The delivered share of the attempts, and their speed.
 * @param {{ attempts: Attempt[] }} props
 */
export function Stats({ attempts }) {
  const { attempts: all, delivered, medianMs } = deliveryStats(attempts);
  if (all === 0) return html`<span class="none">no attempts</span>`;
  // Rounded down, so that 100 % means every one.
  const rate = `${Math.floor((delivered / all) * 100)} % of ${all}`;
  return html`<${Sparkline} attempts=${attempts} />
    <span>${medianMs === null ? rate : `${rate}, median ${duration(medianMs)}`}</span>`;
}

/**
 * The attempts of a subscription and their responses, newest first, with filters.
 * @param {{ account: string, id: string }} props
 */
export function Attempts({ account, id }) {
  const filters = useAttemptFilters();
  const isFiltered = Object.keys(filters).length > 0;
  const path = apiPath('accounts', account, 'subscriptions', id, 'attempts');
  const query = isFiltered ? `?${new URLSearchParams(filters)}` : '';
  /** @type {List<Attempt>} */
  const { data, error, showMore } = useList(path + query, isFiltered ? filteredMs : refreshMs);
  return html`<${AttemptFilters} />
    <${Failure} error=${error} what="read the attempts" />
    ${data === null && error === null && html`<${Loading} what="the attempts" />`}
    ${
      data !== null &&
      html`<${AttemptsTable}
        account=${account}
        attempts=${data.items}
        empty=${isFiltered ? 'No attempt that is still kept matches.' : 'Nothing was sent yet.'}
        more=${data.more}
        onMore=${showMore}
      />`
    }`;
}

/**
 * The dead letters of a subscription, newest first.
 * @param {{ account: string, id: string }} props
 */
export function DeadLetters({ account, id }) {
  const path = apiPath('accounts', account, 'subscriptions', id, 'dead-letters');
  /** @type {List<DeadLetter>} */
  const { data, error, showMore } = useList(path, refreshMs);
  if (data === null)
    return error === null
      ? html`<${Loading} what="the dead letters" />`
      : html`<${Failure} error=${error} what="read the dead letters" />`;
  const rows = data.items.map((letter) => ({
    key: `${letter.at} ${letter.eventId}`,
    cells: [
      html`<${When} at=${letter.at} />`,
      letter.eventType === ''
        ? html`<${Text} value=${`${letter.events} that left the log`} />`
        : html`<${Badge} word=${letter.eventType} />`,
      letter.filingId === null
        ? html`<${Text} value=${null} />`
        : html`<${FilingLink} account=${account} filingId=${letter.filingId} />`,
      attemptsOf(account, id, letter),
      html`<${Badge} word=${outcomeName(letter.lastOutcome)} tone="bad" />`,
    ],
  }));
  return html`<${Failure} error=${error} what="read the dead letters again" />
    <${Table}
      caption="Dead letters, newest first"
      columns=${['Given up', 'Event', 'Filing', 'Attempts', 'Last outcome']}
      numbers=${['Attempts']}
      rows=${rows}
      empty="Nothing was given up."
      more=${data.more}
      onMore=${showMore}
    />`;
}

/** @type {(account: string, id: string, letter: DeadLetter) => unknown} */
function attemptsOf(account, id, { eventId, attempts }) {
  if (eventId === '' || attempts === 0) return attempts;
  const to = withQuery(href('accounts', account, 'subscriptions', id), { eventId });
  return html`<a href=${to} aria-label=${`${attempts} attempts of this event`}>${attempts}</a>`;
}

/**
 * Attempts, newest first; each leads to its page. A response that is the same as in the row above is not
 * repeated.
 * @param {{ account: string, attempts: Attempt[], empty: ComponentChildren, more: boolean, onMore: () =>
 * void, present?: string }} props `present`: the id of the attempt whose page this is
 */
export function AttemptsTable({ account, attempts, empty, more, onMore, present }) {
  const rows = attempts.map((attempt, place) => {
    const isPresent = attempt.id === present;
    const link = html`<${AttemptLink} account=${account} attempt=${attempt} isPresent=${isPresent} />`;
    const response = html`<${Response} attempt=${attempt} above=${attempts[place - 1]} />`;
    const filing =
      attempt.filingId === null
        ? html`<${Text} value=${null} />`
        : html`<${FilingLink} account=${account} filingId=${attempt.filingId} />`;
    const outcome = html`<${Badge}
      word=${outcomeName(attempt.outcome)}
      tone=${outcomeTone(attempt.outcome)}
    />`;
    const event = html`<${Badge} word=${attempt.eventType} />`;
    const status = html`<${Text} value=${attempt.statusCode} />`;
    const took = duration(attempt.durationMs);
    return {
      key: attempt.id,
      cells: [link, event, filing, attempt.attempt, outcome, status, took, response],
      card: html`<div class="card-line"><span>${outcome} ${attempt.statusCode}</span> ${link}</div>
        <div>${event} ${filing} <span class="card-quiet">attempt ${attempt.attempt}, ${took}</span></div>
        ${said(attempt) && !isAsAbove(attempt, attempts[place - 1]) && response}`,
    };
  });
  return html`<${Table}
    caption="Attempts, newest first"
    columns=${['When', 'Event', 'Filing', 'Attempt', 'Outcome', 'Status', 'Took', 'Response']}
    numbers=${['Attempt', 'Status', 'Took']}
    rows=${rows}
    empty=${empty}
    more=${more}
    onMore=${onMore}
  />`;
}

/** @param {{ account: string, attempt: Attempt, isPresent: boolean }} props */
function AttemptLink({ account, attempt: { id, attempt, eventType, at }, isPresent }) {
  if (isPresent) return html`<span><${When} at=${at} /> <span class="quiet">this one</span></span>`;
  return html`<a href=${href('accounts', account, 'attempts', id)}
    ><${When} at=${at} /><span class="hidden">, attempt ${attempt} of ${eventType}</span></a
  >`;
}

/** @param {{ attempt: Attempt, above: Attempt | undefined }} props */
function Response({ attempt, above }) {
  if (isAsAbove(attempt, above)) return html`<span class="quiet">as above</span>`;
  return html`<span class="clamp answer"><${Text} value=${said(attempt)} /></span>`;
}

/** @type {(attempt: Attempt, above: Attempt | undefined) => boolean} */
function isAsAbove(attempt, above) {
  const text = said(attempt);
  return !!text && !!above && said(above) === text && above.statusCode === attempt.statusCode;
}

// The response of the endpoint, or why it could not be asked.
/** @type {(attempt: Attempt) => string | null} */
const said = ({ response, reason }) => response ?? reason;

/**
 * The filters of attempts that the address holds, as they are asked of the API.
 * @returns {Record<string, string>}
 */
export function useAttemptFilters() {
  const [query] = useQuery();
  const names = ['outcome', 'eventId', 'after', 'before'];
  return Object.fromEntries(
    names.map((name) => [name, query.get(name) ?? '']).filter(([, value]) => value !== ''),
  );
}

/** Filters of attempts: outcome, event and time. They are in the address, so a view can be passed on. */
export function AttemptFilters() {
  const [query, setQuery] = useQuery();
  const valueOf = (/** @type {Event} */ event) =>
    /** @type {HTMLInputElement | HTMLSelectElement} */ (event.currentTarget).value.trim();
  const time = (/** @type {'after' | 'before'} */ name) =>
    html`<input
      type="datetime-local"
      step="1"
      value=${toLocal(query.get(name))}
      onChange=${(/** @type {Event} */ event) => setQuery({ [name]: fromLocal(valueOf(event)) })}
    />`;
  const isFiltered = ['outcome', 'eventId', 'after', 'before'].some((name) => query.has(name));
  return html`<div class="filters" role="group" aria-label="Filters of attempts">
    <label
      >Outcome
      <select onChange=${(/** @type {Event} */ event) => setQuery({ outcome: valueOf(event) })}>
        <option value="" selected=${!query.has('outcome')}>Any</option>
        ${Object.entries(outcomes)
          .filter(([code]) => code !== 'expired' && code !== 'unreadable')
          .map(
            ([code, [name]]) =>
              html`<option key=${code} value=${code} selected=${query.get('outcome') === code}>
                ${name}
              </option>`,
          )}
      </select>
    </label>
    <label
      >Event id
      <input
        value=${query.get('eventId') ?? ''}
        placeholder="Any"
        autocomplete="off"
        spellcheck="false"
        onChange=${(/** @type {Event} */ event) => setQuery({ eventId: valueOf(event) })}
    /></label>
    <label>From ${time('after')}</label>
    <label>Until ${time('before')}</label>
    ${
      isFiltered &&
      html`<button
        type="button"
        onClick=${() => setQuery({ outcome: null, eventId: null, after: null, before: null })}
      >
        Clear filters
      </button>`
    }
    <p class="quiet zone">Times are in ${timeZone()}.</p>
  </div>`;
}

const width = 4;
const height = 16;

/**
 * The latest attempts as bars, oldest first: full and green for a delivered one, half and red for a failed
 * one. The words beside it say the same.
 * @param {{ attempts: Attempt[] }} props newest first
 */
export function Sparkline({ attempts }) {
  const bars = attempts
    .filter(({ outcome }) => outcome !== 'aborted')
    .slice(0, 25)
    .toReversed();
  return html`<svg
    class="sparkline"
    aria-hidden="true"
    width=${bars.length * width}
    height=${height}
    viewBox=${`0 0 ${bars.length * width} ${height}`}
  >
    ${bars.map(({ outcome, id }, place) => {
      const good = outcome === 'delivered';
      return html`<rect
        key=${id}
        class=${good ? 'good' : 'bad'}
        x=${place * width}
        y=${good ? 0 : height / 2}
        width=${width - 1}
        height=${good ? height : height / 2}
      />`;
    })}
  </svg>`;
}
