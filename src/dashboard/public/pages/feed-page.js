import { useEffect, useMemo, useRef, useState } from '../vendor/hooks.js';
import { AccountNav } from '../parts/account-parts.js';
import { ActionButton } from '../parts/actions.js';
import { eventFacts, matchesSearch } from '../data/filing-event.js';
import { useFeed } from '../data/use-feed.js';
import { number, fromLocal, toLocal } from '../parts/format.js';
import { html } from '../html.js';
import { At, Badge, Failure, FilingLink, Heading, Loading, Text, useNow } from '../parts/parts.js';
import { href, useQuery } from '../router.js';
import { eventTones } from '../catalogue.js';
import { useTyped } from '../parts/fields.js';

/** @import { FilingEvent } from '../../api-types.ts' */
/** @import { FeedState } from '../data/event-feed.js' */
/** @import { ComponentChildren } from 'preact' */

/**
 * The changes of an account as they arrive, newest first.
 * @param {{ account: string }} props
 */
export function FeedPage({ account }) {
  const [query, setQuery] = useQuery();
  const [paused, setPaused] = useState(false);
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
  return html`<${Heading} title="Changes" crumbs=${[[account, href('accounts', account)]]}
      ><${Connection} state=${feed.state}
    /><//>
    <${AccountNav} account=${account} at="changes" />
    <${FeedFilters} query=${query} setQuery=${setQuery}>
      <button type="button" aria-pressed=${paused} onClick=${() => setPaused(!paused)}>
        ${paused ? `Resume (${feed.waiting} waiting)` : 'Pause'}
      </button>
    <//>
    <${Announcement} count=${feed.arrivals} />
    ${
      found === null
        ? feed.state.kind !== 'broken' && html`<${Loading} what="the changes" />`
        : html`<${Found} events=${found} account=${account} isFiltered=${isFiltered} />`
    }
    <${Failure} error=${feed.reading.error} what="read older changes" />
    ${
      feed.showOlder !== null &&
      html`<div class="buttons">
        <${ActionButton} action=${feed.reading} work=${feed.showOlder}>Show older changes<//>
        ${
          search !== '' &&
          html`<span class="quiet"
            >The words were looked for in the ${number(feed.events?.length ?? 0)} read so far.</span
          >`
        }
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
  const { filingId, insured, policy, state, from, to, reason } = eventFacts(event);
  return html`<li>
    <span class="feed-time"><${At} at=${event.timestamp} /></span>
    <span class="feed-type"><${Badge} word=${event.type} /></span>
    <span class="feed-what">
      ${filingId !== null && html`<${FilingLink} account=${account} filingId=${filingId} name=${insured} />`}
      ${policy !== null && html`<span class="quiet"><${Text} value=${policy} /></span>`}
      ${state !== null && html`<span class="quiet"><${Text} value=${state} /></span>`}
      ${
        to !== null &&
        html`<span class="feed-change"><${Text} value=${from ?? 'new'} /> → <${Text} value=${to} /></span>`
      }
      ${reason !== null && html`<span class="feed-reason"><${Text} value=${reason} /></span>`}
    </span>
  </li>`;
}

/** @param {{ state: FeedState }} props */
function Connection({ state }) {
  switch (state.kind) {
    case 'live':
      return html`<span class="connection good" role="status">Live</span>`;
    case 'past':
      return html`<span class="connection" role="status">Past</span>`;
    case 'polling':
      return html`<span class="connection warn" role="status"
        >The stream does not get through; asked every 3 s instead</span
      >`;
    case 'broken':
      return html`<${Failure} error=${state.error} what="read the changes" />`;
    case 'connecting':
      return html`<span class="connection" role="status">Connecting …</span>`;
  }
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

const presets = /** @type {const} */ ([
  ['Last hour', 3_600_000],
  ['Last day', 86_400_000],
  ['Last week', 604_800_000],
]);

/**
 * The filters of changes, kept in the address.
 * @param {{ query: URLSearchParams, setQuery: (filters: Record<string, string | null>) => void, children?:
 * ComponentChildren }} props
 */
export function FeedFilters({ query, setQuery, children }) {
  const now = useNow();
  const [isOpen, setOpen] = useState(['filingId', 'after', 'before'].some((name) => query.has(name)));
  const [search, setSearch] = useTyped(query.get('q') ?? '', (text) => setQuery({ q: text.trim() }));
  const [filing, setFiling] = useTyped(query.get('filingId') ?? '', (text) =>
    setQuery({ filingId: text.trim() }),
  );
  return html`<form class="filters" role="search" aria-label="Changes" onSubmit=${stay}>
    <label
      >Contains
      <input
        type="search"
        value=${search}
        onInput=${(/** @type {any} */ { target }) => setSearch(target.value)}
    /></label>
    <label
      >Type
      <select
        value=${query.get('types') ?? ''}
        onChange=${(/** @type {any} */ { target }) => setQuery({ types: target.value })}
      >
        <option value="">All types</option>
        ${Object.keys(eventTones).map((one) => html`<option key=${one} value=${one}>${one}</option>`)}
      </select></label
    >
    <button type="button" class="more-filters" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>
      More filters
    </button>
    <label class="further"
      >Id of a filing
      <input
        type="search"
        autocomplete="off"
        value=${filing}
        onInput=${(/** @type {any} */ { target }) => setFiling(target.value)}
    /></label>
    <${Instant}
      name="From"
      value=${query.get('after')}
      onChange=${(/** @type {string | null} */ after) => setQuery({ after })}
    />
    <${Instant}
      name="Until"
      value=${query.get('before')}
      onChange=${(/** @type {string | null} */ before) => setQuery({ before })}
    />
    <div class="chips further" role="group" aria-label="Period">
      ${presets.map(
        ([name, ms]) =>
          html`<button
            key=${name}
            type="button"
            onClick=${() => setQuery({ after: new Date(now - ms).toISOString(), before: null })}
          >
            ${name}
          </button>`,
      )}
      ${
        [...query.keys()].length > 0 &&
        html`<button
          type="button"
          onClick=${() => {
            setQuery(Object.fromEntries([...query.keys()].map((name) => [name, null])));
          }}
        >
          Clear
        </button>`
      }
    </div>
    ${children}
  </form>`;
}

/**
 * A time in the zone of the browser.
 * @param {{ name: string, value: string | null, onChange: (value: string | null) => void }} props
 */
function Instant({ name, value, onChange }) {
  return html`<label class="further"
    >${name}
    <input
      type="datetime-local"
      step="1"
      value=${toLocal(value)}
      onChange=${(/** @type {any} */ { target }) => onChange(fromLocal(target.value))}
  /></label>`;
}

/** @param {Event} event */
const stay = (event) => event.preventDefault();
