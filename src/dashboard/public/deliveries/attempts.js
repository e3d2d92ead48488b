import { html } from '../html.js';
import { apiPath } from '../data/api-client.js';
import { deliveryStats } from '../data/delivery-stats.js';
import { useList } from '../data/use-resource.js';
import { ChoiceFilter, ClearFilters, Filters, TextFilter, TimeFilter } from '../parts/filters.js';
import { duration, timeZone } from '../parts/format.js';
import { Badge, FilingLink, Text, When } from '../parts/parts.js';
import { ListTable, Table } from '../parts/table.js';
import { href, useQuery, withQuery } from '../router.js';
import { isFault, outcomeName, outcomes } from './outcomes.js';

/** @import { Attempt, DeadLetter } from '../../api-types.ts' */
/** @import { List } from '../data/use-resource.js' */
/** @import { Row } from '../parts/table.js' */

const refreshMs = 5000;
// The daemon looks through all attempts for those that match.
const filteredMs = 15_000;
const filters = ['outcome', 'eventId', 'after', 'before'];
const outcomeOptions = [
  ['', 'Any'],
  ...Object.entries(outcomes)
    .filter(([code]) => code !== 'expired' && code !== 'unreadable')
    .map(([code, [name]]) => [code, name]),
];

/**
 * An outcome as a coloured word.
 * @param {{ outcome: string }} props
 */
export function OutcomeBadge({ outcome }) {
  const tone = outcome === 'delivered' ? 'good' : isFault(outcome) ? 'bad' : 'plain';
  return html`<${Badge} word=${outcomeName(outcome)} tone=${tone} />`;
}

/**
 * The delivered share of the attempts, and their speed.
 * @param {{ attempts: Attempt[] }} props
 */
export function Stats({ attempts }) {
  const { attempts: all, delivered, medianMs } = deliveryStats(attempts);
  if (all === 0) return html`<span class="none">no attempts</span>`;
  // Rounded down, so that 100 % means every one.
  const rate = `${Math.floor((delivered / all) * 100)} % of ${all}`;
  return medianMs === null ? rate : `${rate}, median ${duration(medianMs)}`;
}

/**
 * The attempts of a subscription and their responses, newest first, with filters.
 * @param {{ account: string, id: string }} props
 */
export function Attempts({ account, id }) {
  const [query] = useQuery();
  const wanted = Object.fromEntries(filters.map((name) => [name, query.get(name)]));
  const isFiltered = filters.some((name) => query.has(name));
  const path = withQuery(apiPath('accounts', account, 'subscriptions', id, 'attempts'), wanted);
  /** @type {List<Attempt>} */
  const list = useList(path, isFiltered ? filteredMs : refreshMs);
  return html`<${Filters} label="Filters of attempts">
      <${ChoiceFilter} label="Outcome" name="outcome" options=${outcomeOptions} />
      <${TextFilter} label="Event id" name="eventId" more=${{ placeholder: 'Any', spellcheck: false }} />
      <${TimeFilter} label="From" name="after" />
      <${TimeFilter} label="Until" name="before" />
      <${ClearFilters} names=${filters} />
      <p class="quiet zone">Times are in ${timeZone()}.</p>
    <//>
    <${ListTable}
      of=${list}
      what="the attempts"
      ...${attemptsTable}
      rowsOf=${(/** @type {Attempt[]} */ attempts) => rowsOf(account, attempts)}
      empty=${isFiltered ? 'No attempt that is still kept matches.' : 'Nothing was sent yet.'}
    />`;
}

/**
 * The dead letters of a subscription, newest first.
 * @param {{ account: string, id: string }} props
 */
export function DeadLetters({ account, id }) {
  /** @type {List<DeadLetter>} */
  const list = useList(apiPath('accounts', account, 'subscriptions', id, 'dead-letters'), refreshMs);
  const row = (/** @type {DeadLetter} */ letter) => ({
    key: `${letter.at} ${letter.eventId}`,
    cells: [
      html`<${When} at=${letter.at} />`,
      letter.eventType === ''
        ? html`<${Text} value=${`${letter.events} that left the log`} />`
        : html`<${Badge} word=${letter.eventType} />`,
      html`<${FilingLink} account=${account} filingId=${letter.filingId} />`,
      attemptsOf(account, id, letter),
      html`<${Badge} word=${outcomeName(letter.lastOutcome)} tone="bad" />`,
    ],
  });
  return html`<${ListTable}
    of=${list}
    what="the dead letters"
    caption="Dead letters, newest first"
    columns=${['Given up', 'Event', 'Filing', 'Attempts', 'Last outcome']}
    numbers=${['Attempts']}
    rowsOf=${(/** @type {DeadLetter[]} */ letters) => letters.map(row)}
    empty="Nothing was given up."
  />`;
}

/** @type {(account: string, id: string, letter: DeadLetter) => unknown} */
function attemptsOf(account, id, { eventId, attempts }) {
  if (eventId === '' || attempts === 0) return attempts;
  const to = withQuery(href('accounts', account, 'subscriptions', id), { eventId });
  return html`<a href=${to} aria-label=${`${attempts} attempts of this event`}>${attempts}</a>`;
}

const attemptsTable = {
  caption: 'Attempts, newest first',
  columns: ['When', 'Event', 'Filing', 'Attempt', 'Outcome', 'Status', 'Took', 'Response'],
  numbers: ['Attempt', 'Status', 'Took'],
};

/**
 * Attempts, newest first; each leads to its page.
 * @param {{ account: string, attempts: Attempt[], present: string }} props `present`: the id of the attempt
 * whose page this is
 */
export function AttemptsTable({ account, attempts, present }) {
  return html`<${Table} ...${attemptsTable} rows=${rowsOf(account, attempts, present)} empty="" />`;
}

// A response that is the same as in the row above is not repeated.
/** @type {(account: string, attempts: Attempt[], present?: string) => Row[]} */
function rowsOf(account, attempts, present) {
  return attempts.map((attempt, place) => {
    const isPresent = attempt.id === present;
    const isRepeated = isAsAbove(attempt, attempts[place - 1]);
    const link = html`<${AttemptLink} account=${account} attempt=${attempt} isPresent=${isPresent} />`;
    const response = isRepeated
      ? html`<span class="quiet">as above</span>`
      : html`<span class="clamp answer"><${Text} value=${said(attempt)} /></span>`;
    const filing = html`<${FilingLink} account=${account} filingId=${attempt.filingId} />`;
    const outcome = html`<${OutcomeBadge} outcome=${attempt.outcome} />`;
    const event = html`<${Badge} word=${attempt.eventType} />`;
    const status = html`<${Text} value=${attempt.statusCode} />`;
    const took = duration(attempt.durationMs);
    return {
      key: attempt.id,
      cells: [link, event, filing, attempt.attempt, outcome, status, took, response],
      card: html`<div class="card-line"><span>${outcome} ${attempt.statusCode}</span> ${link}</div>
        <div>${event} ${filing} <span class="quiet">attempt ${attempt.attempt}, ${took}</span></div>
        ${said(attempt) && !isRepeated && response}`,
    };
  });
}

/** @param {{ account: string, attempt: Attempt, isPresent: boolean }} props */
function AttemptLink({ account, attempt: { id, attempt, eventType, at }, isPresent }) {
  if (isPresent) return html`<span><${When} at=${at} /> <span class="quiet">this one</span></span>`;
  return html`<a href=${href('accounts', account, 'attempts', id)}
    ><${When} at=${at} /><span class="hidden">, attempt ${attempt} of ${eventType}</span></a
  >`;
}

/** @type {(attempt: Attempt, above: Attempt | undefined) => boolean} */
function isAsAbove(attempt, above) {
  const text = said(attempt);
  return !!text && !!above && said(above) === text && above.statusCode === attempt.statusCode;
}

// The response of the endpoint, or why it could not be asked.
/** @type {(attempt: Attempt) => string | null} */
const said = ({ response, reason }) => response ?? reason;
