import { useEffect, useRef, useState } from '../vendor/hooks.js';
import { useAction } from '../parts/actions.js';
import { followEvents, readOlder } from './event-feed.js';
import { useClient } from './use-resource.js';

/** @import { FilingEvent } from '../../api-types.ts' */
/** @import { FeedFilter, FeedState } from './event-feed.js' */

const eventsMax = 2000;

/**
 * Newer events before older ones, each once, no more than the page keeps; pure.
 * @param {FilingEvent[]} shown newest first
 * @param {FilingEvent[]} arrived oldest first
 */
export function mergeEvents(shown, arrived) {
  const known = new Set(shown.map(({ id }) => id));
  const fresh = arrived.filter(({ id }) => !known.has(id));
  return fresh.length === 0 ? shown : [...fresh.toReversed(), ...shown].slice(0, eventsMax);
}

/**
 * Older events after those shown; pure.
 * @param {FilingEvent[]} shown newest first
 * @param {FilingEvent[]} older newest first
 */
export function withOlder(shown, older) {
  const known = new Set(shown.map(({ id }) => id));
  return [...shown, ...older.filter(({ id }) => !known.has(id))].slice(0, eventsMax);
}

/**
 * The wanted events of an account: the latest, new ones as they arrive, older ones on request. While paused,
 * new ones are counted and held back. `events` is null until the latest are read, `arrivals` the number of
 * new ones since, `showOlder` null if there are none or the page is full.
 * @param {string} account
 * @param {FeedFilter} filter
 * @param {boolean} paused
 */
export function useFeed(account, filter, paused) {
  const client = useClient();
  const [events, setEvents] = useState(/** @type {FilingEvent[] | null} */ (null));
  const [held, setHeld] = useState(/** @type {FilingEvent[]} */ ([]));
  const [state, setState] = useState(/** @type {FeedState} */ ({ kind: 'connecting' }));
  const [older, setOlder] = useState(/** @type {string | null} */ (null));
  const [arrivals, setArrivals] = useState(0);
  const reading = useAction();
  const pausing = useRef(paused);
  pausing.current = paused;

  const key = JSON.stringify(filter);
  useEffect(() => {
    setEvents(null);
    setOlder(null);
    setHeld([]);
    setState({ kind: 'connecting' });
    const leave = new AbortController();
    const onEvents = (/** @type {FilingEvent[]} */ arrived) => {
      if (arrived.length === 0 || leave.signal.aborted) return;
      setArrivals((before) => before + arrived.length);
      if (pausing.current) setHeld((before) => [...before, ...arrived].slice(-eventsMax));
      else setEvents((before) => mergeEvents(before ?? [], arrived));
    };
    const onHistory = (/** @type {FilingEvent[]} */ latest, /** @type {string | null} */ before) => {
      if (leave.signal.aborted) return;
      setEvents(latest);
      setOlder(before);
    };
    void followEvents(client, account, filter, { onEvents, onState: setState, onHistory }, leave.signal);
    return () => leave.abort();
  }, [client, account, key]);

  useEffect(() => {
    if (paused) return;
    setEvents((before) => before && mergeEvents(before, held));
    setHeld([]);
  }, [paused]);

  const readOn = async () => {
    const { items, nextCursor } = await readOlder(client, account, filter, older);
    setOlder(nextCursor);
    setEvents((before) => withOlder(before ?? [], items));
  };
  const hasMore = older !== null && (events?.length ?? 0) < eventsMax;
  return { events, arrivals, waiting: held.length, state, reading, showOlder: hasMore ? readOn : null };
}
