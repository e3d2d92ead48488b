import { useEffect, useMemo, useRef, useState } from '../vendor/hooks.js';
import { eventTones } from '../catalogue.js';
import { html } from '../html.js';
import { eventFacts, matchesSearch } from '../data/filing-event.js';
import { useFeed } from '../data/use-feed.js';
import { AccountHeading } from '../parts/account-parts.js';
import { ActionButton } from '../parts/actions.js';
import { ChoiceFilter, ClearFilters, Filters, TextFilter, TimeFilter } from '../parts/filters.js';
import { number } from '../parts/format.js';
import { At, Badge, Failure, FilingLink, Loading, Text } from '../parts/parts.js';
import { useQuery } from '../router.js';

/** @import { FilingEvent } from '../../api-types.ts' */
/** @import { FeedState } from '../data/event-feed.js' */

const types = [['', 'All types'], ...Object.keys(eventTones).map((type) => [type, type])];

/**
 * The changes of an account as they arrive, newest first.
 * @param {{ account: string }} props
 */
export function FeedPage({ account }) {
  const [query] = useQuery();
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
  return html`<${AccountHeading} account=${account} at="changes" title="Changes"
      ><${Connection} state=${feed.state}
    /><//>
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
    <span class="quiet"><${At} at=${event.timestamp} /></span>
    <span><${Badge} word=${event.type} /></span>
    ${filingId !== null && html`<${FilingLink} account=${account} filingId=${filingId} name=${insured} />`}
    ${policy !== null && html`<span class="quiet"><${Text} value=${policy} /></span>`}
    ${state !== null && html`<span class="quiet"><${Text} value=${state} /></span>`}
    ${to !== null && html`<span><${Text} value=${from ?? 'new'} /> → <${Text} value=${to} /></span>`}
    ${reason !== null && html`<span class="quiet"><${Text} value=${reason} /></span>`}
  </li>`;
}

/** @type {Readonly<Record<Exclude<FeedState['kind'], 'broken'>, readonly [text: string, tone: string]>>} */
const connections = {
  live: ['Live', 'good'],
  past: ['Past', ''],
  polling: ['The stream does not get through; asked every 3 s instead', 'warn'],
  connecting: ['Connecting …', ''],
};

/** @param {{ state: FeedState }} props */
function Connection({ state }) {
  if (state.kind === 'broken') return html`<${Failure} error=${state.error} what="read the changes" />`;
  const [text, tone] = connections[state.kind];
  return html`<span class=${`connection ${tone}`} role="status">${text}</span>`;
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
