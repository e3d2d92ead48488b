import { useEffect, useRef, useState } from './vendor/hooks.js';
import { followEvents } from './event-feed.js';
import { useClient } from './use-resource.js';

/** @import { FilingEvent } from './api-types.d.ts' */
/** @import { FeedState } from './event-feed.js' */

const eventsMax = 500;

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
 * The events of an account as they come. While paused they are counted and kept back.
 * @param {string} account
 * @param {boolean} paused
 */
export function useFeed(account, paused) {
  const client = useClient();
  const [events, setEvents] = useState(/** @type {FilingEvent[]} */ ([]));
  const [held, setHeld] = useState(/** @type {FilingEvent[]} */ ([]));
  const [state, setState] = useState(/** @type {FeedState} */ ({ kind: 'connecting' }));
  const [complete, setComplete] = useState(true);
  const pausing = useRef(paused);
  pausing.current = paused;

  useEffect(() => {
    const leave = new AbortController();
    const onEvents = (/** @type {FilingEvent[]} */ arrived) => {
      if (arrived.length === 0 || leave.signal.aborted) return;
      if (pausing.current) setHeld((before) => [...before, ...arrived].slice(-eventsMax));
      else setEvents((before) => mergeEvents(before, arrived));
    };
    void followEvents(client, account, { onEvents, onState: setState, onHistory: setComplete }, leave.signal);
    return () => leave.abort();
  }, [client, account]);

  useEffect(() => {
    if (paused) return;
    setEvents((before) => mergeEvents(before, held));
    setHeld([]);
  }, [paused]);

  return { events, waiting: held.length, state, complete };
}
