import { useEffect, useMemo, useRef, useState } from '../vendor/hooks.js';
import { AccountNav } from '../parts/account-parts.js';
import { ActionButton } from '../actions/actions.js';
import { eventTones } from '../data/catalogue.js';
import { eventFacts, matchesSearch } from '../data/filing-event.js';
import { number } from '../parts/format.js';
import { html } from '../parts/html.js';
import { Badge, Failure, FilingLink, Heading, Loading, Text, When } from '../parts/parts.js';
import { href } from '../router.js';
import { useFeed } from '../data/use-feed.js';

/** @import { FilingEvent } from '../data/api-types.d.ts' */
/** @import { FeedState } from '../data/event-feed.js' */

/**
 * The changes of an account as they arrive, newest first.
 * @param {{ account: string }} props
 */
export function FeedPage({ account }) {
  const [paused, setPaused] = useState(false);
  const feed = useFeed(account, paused);
  const [search, setSearch] = useState('');
  const [type, setType] = useState('');
  const found = useMemo(
    () =>
      feed.events?.filter((event) => (type === '' || event.type === type) && matchesSearch(event, search)) ??
      null,
    [feed.events, search, type],
  );
  return html`<${Heading} title="Changes" crumbs=${[[account, href('accounts', account)]]} />
    <${AccountNav} account=${account} at="changes" />
    <form class="filters" role="search" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
      <label
        >Search
        <input
          type="search"
          value=${search}
          onInput=${(/** @type {any} */ { target }) => setSearch(target.value)}
      /></label>
      <label
        >Type
        <select value=${type} onChange=${(/** @type {any} */ { target }) => setType(target.value)}>
          <option value="">All types</option>
          ${Object.keys(eventTones).map((one) => html`<option key=${one} value=${one}>${one}</option>`)}
        </select>
      </label>
      <button type="button" aria-pressed=${paused} onClick=${() => setPaused(!paused)}>
        ${paused ? `Go on (${feed.waiting} waiting)` : 'Pause'}
      </button>
      <${Connection} state=${feed.state} />
    </form>
    <${Announcement} count=${feed.arrivals} />
    ${
      found === null
        ? feed.state.kind !== 'broken' && html`<${Loading} what="the changes" />`
        : html`<${Found} events=${found} account=${account} any=${feed.events?.length !== 0} />`
    }
    <${Failure} error=${feed.reading.error} what="read older changes" />
    ${
      feed.showOlder !== null &&
      html`<div class="buttons">
        <${ActionButton} action=${feed.reading} work=${feed.showOlder}>Show older changes<//>
        <span class="quiet">Search and type look through the ${number(feed.events?.length ?? 0)} shown.</span>
      </div>`
    }`;
}

/** @param {{ events: FilingEvent[], account: string, any: boolean }} props */
function Found({ events, account, any }) {
  if (events.length === 0) {
    return html`<p class="empty">
      ${any ? 'None of the changes shown matches the search and the type.' : 'Nothing has changed yet. The next change appears here by itself.'}
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
    <span class="feed-head"><${Badge} word=${event.type} /> <${When} at=${event.timestamp} /></span>
    ${
      filingId !== null &&
      html`<span class="feed-what clamp">
        <${FilingLink} account=${account} filingId=${filingId} name=${insured} />
        ${policy !== null && html`<span class="quiet">policy</span> <${Text} value=${policy} />`}
        ${state !== null && html`<span class="quiet">in</span> <${Text} value=${state} />`}
      </span>`
    }
    ${to !== null && html`<span class="feed-change"><${Text} value=${from ?? 'new'} /> → <${Text} value=${to} /></span>`}
    ${reason !== null && html`<span class="feed-reason clamp"><${Text} value=${reason} /></span>`}
  </li>`;
}

/** @param {{ state: FeedState }} props */
function Connection({ state }) {
  switch (state.kind) {
    case 'live':
      return html`<span class="connection good" role="status">Live</span>`;
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
