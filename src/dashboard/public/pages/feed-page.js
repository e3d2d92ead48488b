import { useEffect, useMemo, useRef, useState } from '../vendor/hooks.js';
import { eventTones } from '../catalogue.js';
import { html } from '../html.js';
import { eventFacts, matchesSearch } from '../data/filing-event.js';
import { useFeed } from '../data/use-feed.js';
import { AccountHeading } from '../parts/account-parts.js';
import { ActionButton } from '../parts/actions.js';
import { ChoiceFilter, ClearFilters, Filters, TextFilter, TimeFilter } from '../parts/filters.js';
import { number } from '../parts/format.js';
import { At, Badge, Failure, FilingLink, Reading, Text } from '../parts/parts.js';
import { useQuery } from '../router.js';

/** @import { FilingEvent } from '../../api-types.ts' */
/** @import { FeedFilter } from '../data/use-feed.js' */

const types = [['', 'All types'], ...Object.keys(eventTones).map((type) => [type, type])];

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
  return html`<${AccountHeading} account=${account} at="changes" title="Changes"
      >${feed.error === null && html`<${Connection} isRead=${found !== null} isPast=${filter.before !== null} />`}<//
    >
    <${Filters} label="Changes">
      <${TextFilter} label="Contains" name="q" />
      <${ChoiceFilter} label="Type" name="types" options=${types} />
      <${TextFilter} label="Id of a filing" name="filingId" />
      <${TimeFilter} label="From" name="after" />
      <${TimeFilter} label="Until" name="before" />
      <${ClearFilters} names=${[...query.keys()]} />
      <button type="button" aria-pressed=${paused} onClick=${() => setPaused(!paused)}>
        ${paused ? `Resume (${feed.waiting} waiting)` : 'Pause'}
      </button>
    <//>
    <${Announcement} count=${feed.arrivals} />
    <${Reading}
      of=${{ data: found, error: feed.error }}
      what="the changes"
      show=${(/** @type {FilingEvent[]} */ events) =>
        html`<${Found} events=${events} account=${account} isFiltered=${isFiltered} />`}
    />
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
    <span class="quiet"><${At} at=${event.timestamp} /></span>
    <span><${Badge} word=${event.type} /></span>
    ${filingId !== null && html`<${FilingLink} account=${account} filingId=${filingId} name=${insured} />`}
    ${policy !== null && html`<span class="quiet"><${Text} value=${policy} /></span>`}
    ${state !== null && html`<span class="quiet"><${Text} value=${state} /></span>`}
    ${to !== null && html`<span><${Text} value=${from ?? 'new'} /> → <${Text} value=${to} /></span>`}
    ${reason !== null && html`<span class="quiet"><${Text} value=${reason} /></span>`}
  </li>`;
}

/** @param {{ isRead: boolean, isPast: boolean }} props */
function Connection({ isRead, isPast }) {
  if (!isRead || isPast)
    return html`<span class="connection" role="status">${isRead ? 'Past' : 'Connecting …'}</span>`;
  return html`<span class="connection good" role="status">Live</span>`;
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
