import { useCallback, useMemo } from '../vendor/hooks.js';
import { useAction } from '../parts/actions.js';
import { withQuery } from '../router.js';
import { apiPath } from './api-client.js';
import { useClient, useReading } from './use-resource.js';

/** @import { EventPage, FilingEvent } from '../../api-types.ts' */
/** @import { Resource } from './use-resource.js' */

/**
 * Which events are wanted; null where it does not matter. `after` and `before` are times of the API.
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
