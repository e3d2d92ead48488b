import { html, useEffect, useRef, useState } from '../html.js';
import { apiPath, useList } from '../data/api.js';
import { deliveryStats } from '../data/delivery-stats.js';
import { ChoiceFilter, ClearFilters, Filters, TextFilter, TimeFilter } from '../parts/filters.js';
import { counted, duration, timeZone } from '../parts/format.js';
import { Badge, Failure, FilingLink, Text, When } from '../parts/parts.js';
import { ListTable, Table } from '../parts/tables.js';
import { href, useQuery, withQuery } from '../router.js';
import { isFault, outcomeName, outcomes } from './outcomes.js';

/** @import { Attempt, DeadLetter, EventDelivery } from '../../api-types.ts' */
/** @import { List } from '../data/api.js' */
/** @import { Row } from '../parts/tables.js' */
/** @import { Tone } from '../catalogue.js' */

const refreshMs = 5000;
// The daemon looks through all attempts for those that match.
const filteredMs = 15_000;
const filters = ['outcome', 'eventId', 'filingId', 'after', 'before'];
const anyId = { placeholder: 'Any', spellcheck: false };
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
      <${TextFilter} label="Event id" name="eventId" more=${anyId} />
      <${TextFilter} label="Id of a filing" name="filingId" more=${anyId} />
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

const waitingMs = 5000;
// Once nothing waits, only a replay or a new subscription changes it.
const settledMs = 60_000;

// In the order in which they are shown: a subscription without the event is not to be missed among others.
/** @type {Readonly<Record<string, readonly [word: string, tone: Tone]>>} */
const states = {
  given_up: ['Given up', 'bad'],
  waiting: ['Waiting', 'warn'],
  delivered: ['Delivered', 'good'],
};
const order = Object.keys(states);

/**
 * The subscriptions that have an event and those that wait for it. Nothing is read before it is on the
 * screen.
 * @param {{ account: string, eventId: string, filingId: string | null }} props
 */
export function EventDeliveries({ account, eventId, filingId }) {
  const place = useRef(/** @type {HTMLDivElement | null} */ (null));
  const isSeen = useSeen(place);
  return html`<div class="deliveries" ref=${place}>
    ${isSeen && html`<${Deliveries} account=${account} eventId=${eventId} filingId=${filingId} />`}
  </div>`;
}

/** @param {{ account: string, eventId: string, filingId: string | null }} props */
function Deliveries({ account, eventId, filingId }) {
  const [everyMs, setEveryMs] = useState(waitingMs);
  const list = `${apiPath('accounts', account, 'events', eventId, 'deliveries')}?limit=100`;
  const path = withQuery(list, { filingId });
  /** @type {List<EventDelivery>} */
  const { data, error, showMore } = useList(path, everyMs);
  const waits = data?.items.some(({ state }) => state === 'waiting') ?? true;
  useEffect(() => setEveryMs(waits ? waitingMs : settledMs), [waits]);
  if (data === null && error === null) return html`<p class="quiet">Loading who has it …</p>`;
  if (data === null) return html`<${Failure} error=${error} what="read who has it" />`;
  const wanted = data.items
    .filter(({ state }) => state !== 'not_selected')
    .toSorted((one, other) => order.indexOf(one.state) - order.indexOf(other.state));
  const others = data.items.length - wanted.length;
  const rest =
    wanted.length > 0
      ? others > 0 &&
        `${counted(others, 'other subscription does', 'other subscriptions do')} not ask for it.`
      : others > 0
        ? 'No subscription asks for this event.'
        : 'No subscription was there to be told.';
  return html`<ul aria-label="Deliveries">
      ${wanted.map((one) => html`<${Delivery} key=${one.subscription} account=${account} delivery=${one} />`)}
    </ul>
    ${rest && html`<p class="quiet">${rest}</p>`}
    ${data.more && html`<button type="button" onClick=${showMore}>Show more</button>`}`;
}

/** @param {{ account: string, delivery: EventDelivery }} props */
function Delivery({ account, delivery }) {
  const { subscription, description, url, state, lastAttempt, lastReason } = delivery;
  const [word, tone] = states[state] ?? [state, 'plain'];
  return html`<li>
    <${Badge} word=${word} tone=${tone} />
    <a href=${href('accounts', account, 'subscriptions', subscription)}
      ><${Text} value=${description || url}
    /></a>
    <span class="quiet">${progressOf(delivery)}${lastReason && html`. ${lastReason}`}</span>
    ${lastAttempt !== null && html`<a href=${href('accounts', account, 'attempts', lastAttempt)}>Latest attempt</a>`}
  </li>`;
}

/** @param {EventDelivery} delivery */
function progressOf({ state, enabled, attempts, lastOutcome, lastStatusCode, deliveredAt, nextAttemptAt }) {
  const tries = attempts === null ? 'some attempts' : counted(attempts, 'attempt');
  const why =
    lastOutcome === null
      ? ''
      : `, ${outcomeName(lastOutcome)}${lastStatusCode === null ? '' : ` ${lastStatusCode}`}`;
  const more = attempts !== null && attempts > 1 && ` after ${tries}`;
  if (state === 'delivered') return html`<${When} at=${deliveredAt} never="" />${more}`;
  if (state === 'given_up') return `after ${tries}${why}`;
  if (!enabled) return `${attempts === 0 ? 'not sent' : `${tries}${why}`}: the subscription is disabled`;
  if (attempts === 0)
    return nextAttemptAt === null
      ? 'not sent yet'
      : html`not sent yet, first attempt <${When} at=${nextAttemptAt} />`;
  return html`${tries}${why}, next retry <${When} at=${nextAttemptAt} never="soon" />`;
}

/** @type {(place: { current: Element | null }) => boolean} */
function useSeen(place) {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver((entries) => {
      if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
    });
    if (place.current !== null) observer.observe(place.current);
    return () => observer.disconnect();
  }, [place]);
  return isSeen;
}
