import { html, useCallback, useEffect, useMemo, useRef, useState } from '../html.js';
import { eventTones } from '../catalogue.js';
import { eventFacts, matchesSearch } from '../data/filing-event.js';
import { AccountHeading } from '../parts/account-parts.js';
import { ActionButton, useAction } from '../parts/forms.js';
import { ChoiceFilter, ClearFilters, Filters, TextFilter, TimeFilter } from '../parts/filters.js';
import { number } from '../parts/format.js';
import { At, Badge, Failure, FilingLink, Text, whenRead } from '../parts/parts.js';
import { href, useQuery, withQuery } from '../router.js';
import { apiPath, useClient, useReading } from '../data/api.js';

/** @import { EventPage, FilingEvent } from '../../api-types.ts' */
/** @import { Resource } from '../data/api.js' */

const typeOptions = [['', 'All types'], ...Object.keys(eventTones).map((type) => [type, type])];

/**
 * The changes of an account as they arrive, newest first.
 * @param {{ account: string }} props
 */
export function FeedPage({ account }) {
  const [query] = useQuery();
  const [paused, setPaused] = useState(false);
  /** @type {FeedFilter} */
  const filter = {
    types: query.get('types'),
    filingId: query.get('filingId'),
    after: query.get('after'),
    before: query.get('before'),
  };
  const search = query.get('q') ?? '';
  const feed = useFeed(account, filter, paused);
  const found = useMemo(
    () => feed.events?.filter((event) => matchesSearch(event, search)) ?? null,
    [feed.events, search],
  );
  const isFiltered = search !== '' || Object.values(filter).some((value) => value !== null);
  const show = (/** @type {FilingEvent[]} */ events) =>
    html`<${Found} events=${events} account=${account} isFiltered=${isFiltered} />`;
  const word = found === null ? 'Connecting …' : filter.before === null ? 'Live' : 'Past';
  const tone = word === 'Live' ? 'good' : '';
  const connection = html`<span class=${`connection ${tone}`} role="status">${word}</span>`;
  return html`<${AccountHeading} account=${account} at="changes" title="Changes"
      >${feed.error === null && connection}<//
    >
    <${Filters} label="Changes">
      <${TextFilter} label="Contains" name="q" />
      <${ChoiceFilter} label="Type" name="types" options=${typeOptions} />
      <${TextFilter} label="Id of a filing" name="filingId" />
      <${TimeFilter} label="From" name="after" />
      <${TimeFilter} label="Until" name="before" />
      <${ClearFilters} names=${[...query.keys()]} />
      <button type="button" aria-pressed=${paused} onClick=${() => setPaused(!paused)}>
        ${paused ? `Resume (${feed.waiting} waiting)` : 'Pause'}
      </button>
    <//>
    <${Announcement} count=${feed.arrivals} />
    ${whenRead({ data: found, error: feed.error }, 'the changes', show)}
    <${Failure} error=${feed.reading.error} what="read older changes" />
    ${
      feed.showOlder !== null &&
      html`<div class="buttons">
        <${ActionButton} action=${feed.reading} work=${feed.showOlder}>Show older changes<//>
        ${search !== '' && html`<span class="quiet">The words were looked for in the ${number(feed.events?.length ?? 0)} read so far.</span>`}
      </div>`
    }`;
}

/** @param {{ events: FilingEvent[], account: string, isFiltered: boolean }} props */
function Found({ events, account, isFiltered }) {
  if (events.length === 0) {
    return html`<p class="empty">
      ${isFiltered ? 'No change matches these filters.' : 'Nothing has changed yet. The next change appears here by itself.'}
    </p>`;
  }
  return html`<ol class="feed" aria-label="Changes, newest first">
    ${events.map((event) => html`<${FeedEntry} key=${event.id} event=${event} account=${account} />`)}
  </ol>`;
}

/** @param {{ event: FilingEvent, account: string }} props */
function FeedEntry({ event, account }) {
  const { filingId, insured, policy, state, from, to, happened, reason, answeredBy, ...facts } =
    eventFacts(event);
  const { subscription, endpoint } = facts;
  return html`<li>
    <span class="quiet"><${At} at=${event.timestamp} /></span>
    <span><${Badge} word=${event.type} /></span>
    ${filingId !== null && html`<${FilingLink} account=${account} filingId=${filingId} name=${insured} />`}
    ${
      subscription !== null &&
      html`<a href=${href('accounts', account, 'subscriptions', subscription)}
        ><${Text} value=${endpoint ?? subscription}
      /></a>`
    }
    ${policy !== null && html`<span class="quiet"><${Text} value=${policy} /></span>`}
    ${state !== null && html`<span class="quiet"><${Text} value=${state} /></span>`}
    ${to !== null && html`<span><${Text} value=${from ?? 'new'} /> → <${Text} value=${to} /></span>`}
    ${happened !== null && html`<span><${Text} value=${happened} /></span>`}
    ${answeredBy !== null && html`<span>Answered by <${FilingLink} account=${account} filingId=${answeredBy} /></span>`}
    ${reason !== null && html`<span class="quiet"><${Text} value=${reason} /></span>`}
  </li>`;
}

// Announces the number of new changes, at most every few seconds: a screen reader would never finish with
// single ones.
/** @param {{ count: number }} props */
function Announcement({ count }) {
  const announced = useRef(count);
  const latest = useRef(count);
  const [text, setText] = useState('');
  latest.current = count;
  useEffect(() => {
    const timer = setInterval(() => {
      const news = latest.current - announced.current;
      if (news > 0) setText(news === 1 ? '1 new change' : `${news} new changes`);
      announced.current = latest.current;
    }, 5000);
    return () => clearInterval(timer);
  }, []);
  return html`<p class="hidden" aria-live="polite">${text}</p>`;
}

/**
 * Which events to show; null means any. `after` and `before` are times as the API takes them.
 * @typedef {{ types: string | null, filingId: string | null, after: string | null, before: string | null }}
 * FeedFilter
 */

/**
 * The events that were read so far.
 * @typedef {object} Feed
 * @property {readonly FilingEvent[]} events newest first
 * @property {string | null} cursor the place in the log behind what was read; null before the first reading
 * @property {string | null} older the cursor of older events; null if there are none
 * @property {number} arrivals number of new events since the first reading
 * @property {number} shown number of these when it was last not paused
 */

const askEveryMs = 2000;
const eventsMax = 2000;

/**
 * The wanted events of an account: the latest, new ones as they are asked for every few seconds unless only
 * earlier ones are wanted, older ones on request. While paused, new ones are counted and held back. `events`
 * is null until the latest are read, `arrivals` the number of new ones since, `showOlder` null if there are
 * none or the page is full.
 * @param {string} account
 * @param {FeedFilter} filter
 * @param {boolean} isPaused
 */
export function useFeed(account, filter, isPaused) {
  const client = useClient();
  const log = apiPath('accounts', account, 'events');
  const latest = withQuery(`${log}?order=newest&limit=100`, filter);
  /** @type {Feed} */
  const feed = useMemo(
    () => ({ events: [], cursor: null, older: null, arrivals: 0, shown: 0 }),
    [client, latest],
  );
  const read = useCallback(
    async (/** @type {AbortSignal} */ signal) => {
      const get = async (/** @type {string} */ path) => {
        /** @type {EventPage} */
        const page = await client.get(path, signal);
        signal.throwIfAborted();
        return page;
      };
      if (feed.cursor === null) {
        const { items, nextCursor, resumeCursor } = await get(latest);
        Object.assign(feed, { events: items, older: nextCursor, cursor: resumeCursor });
      } else if (filter.before === null) {
        for (let hasMore = true; hasMore;) {
          const { items, nextCursor, resumeCursor } = await get(
            withQuery(`${log}?limit=100`, { cursor: feed.cursor }),
          );
          const news = items.filter((event) => isWanted(event, filter));
          feed.cursor = resumeCursor;
          feed.events = [...news.toReversed(), ...feed.events].slice(0, eventsMax);
          feed.arrivals += news.length;
          hasMore = nextCursor !== null;
        }
      }
      return { ...feed };
    },
    [client, feed],
  );
  /** @type {Resource<Feed>} */
  const { data, error, reload } = useReading(read, askEveryMs, feed);
  const reading = useAction();
  const readOn = async () => {
    /** @type {EventPage} */
    const { items, nextCursor } = await client.get(withQuery(latest, { cursor: feed.older }));
    feed.older = nextCursor;
    feed.events = [...feed.events, ...items].slice(0, eventsMax);
    reload();
  };
  const { events = null, older = null, arrivals = 0 } = data ?? {};
  if (!isPaused) feed.shown = arrivals;
  const waiting = arrivals - feed.shown;
  const hasMore = older !== null && events !== null && events.length < eventsMax;
  return {
    events: events?.slice(waiting) ?? null,
    error,
    arrivals,
    waiting,
    reading,
    showOlder: hasMore ? readOn : null,
  };
}

/** @type {(event: FilingEvent, filter: FeedFilter) => boolean} */
const isWanted = ({ type, data }, { types, filingId }) =>
  (types === null || type === types) && (filingId === null || data['filingId'] === filingId);
