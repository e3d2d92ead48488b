import { useEffect, useRef, useState } from '../vendor/hooks.js';
import { apiPath } from '../data/api-client.js';
import { useList } from '../data/use-resource.js';
import { counted } from '../parts/format.js';
import { html } from '../html.js';
import { Badge, Failure, Text, When } from '../parts/parts.js';
import { href, withQuery } from '../router.js';
import { outcomeName } from './outcomes.js';

/** @import { EventDelivery } from '../../api-types.ts' */
/** @import { Tone } from '../catalogue.js' */
/** @import { List } from '../data/use-resource.js' */

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
  if (data === null && error === null) return html`<p class="quiet">Reading who has it …</p>`;
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
