import { createContext } from '../vendor/preact.js';
import { useCallback, useContext, useEffect, useState } from '../vendor/hooks.js';
import { ApiError } from './api-client.js';
import { noteRead, suspect } from './daemon.js';
import { sleep, untilVisible } from './sleep.js';

/** @import { Page } from '../../api-types.ts' */

/** The client of the user who is signed in. */
export const ClientContext = createContext(
  /** @type {import('./api-client.js').ApiClient} */ (/** @type {unknown} */ (null)),
);

/** @returns {import('./api-client.js').ApiClient} */
export const useClient = () => useContext(ClientContext);

/**
 * Data of the API as last read. After a failure the former data stays, beside the error.
 * @template T
 * @typedef {object} Resource
 * @property {T | null} data null until the first reading
 * @property {ApiError | null} error why the last reading failed
 * @property {() => void} reload reads again at once
 */

/**
 * The pages of a list that are shown.
 * @template T
 * @typedef {Resource<{ items: T[], more: boolean, first: any }> & { showMore: () => void }} List `first`: the
 * first page as it came, with what is true of the whole list
 */

/**
 * Reads a path now and repeatedly while the page is visible.
 * @template T
 * @param {string} path
 * @param {number} everyMs
 * @returns {Resource<T>}
 */
export function useResource(path, everyMs) {
  const client = useClient();
  const read = useCallback((/** @type {AbortSignal} */ signal) => client.get(path, signal), [client, path]);
  return useReading(read, everyMs);
}

/**
 * Reads the pages of a list that are shown, now and repeatedly.
 * @template T
 * @param {string} path may have a query
 * @param {number} everyMs
 * @param {number} [pagesAtFirst] number of pages that are shown before more are asked for
 * @returns {List<T>}
 */
export function useList(path, everyMs, pagesAtFirst = 1) {
  const client = useClient();
  const [shown, setShown] = useState({ path, pages: pagesAtFirst });
  const pages = shown.path === path ? shown.pages : pagesAtFirst;
  const read = useCallback(
    (/** @type {AbortSignal} */ signal) => readPages(client, path, pages, signal),
    [client, path, pages],
  );
  const showMore = useCallback(() => setShown({ path, pages: pages + 1 }), [path, pages]);
  return { ...useReading(read, everyMs, path), showMore };
}

/**
 * Reads now and repeatedly while the page is visible.
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} read
 * @param {number} everyMs
 * @param {unknown} [subject] what is read: data of another subject is not shown; default `read` itself
 * @returns {Resource<T>}
 */
export function useReading(read, everyMs, subject = read) {
  const [state, setState] = useState({
    subject,
    data: /** @type {T | null} */ (null),
    error: /** @type {ApiError | null} */ (null),
  });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const leave = new AbortController();
    void repeat(leave.signal, everyMs, async () => {
      try {
        const data = await read(leave.signal);
        noteRead();
        if (!leave.signal.aborted) setState({ subject, data, error: null });
      } catch (error) {
        if (leave.signal.aborted) return;
        if (isAway(error)) suspect();
        setState((before) => {
          const data = before.subject === subject ? before.data : null;
          return { subject, data, error: asApiError(error) };
        });
      }
    });
    return () => leave.abort();
  }, [read, everyMs, subject, turn]);
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  const current = state.subject === subject ? state : { data: null, error: null };
  return { data: current.data, error: current.error, reload };
}

/**
 * @type {(client: import('./api-client.js').ApiClient, path: string, pages: number, signal: AbortSignal) =>
 * Promise<{ items: any[], more: boolean, first: any }>}
 */
async function readPages(client, path, pages, signal) {
  const items = [];
  let cursor = null;
  let first = null;
  for (let page = 0; page < pages; page += 1) {
    const from =
      cursor === null ? '' : `${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`;
    /** @type {Page<unknown>} */
    const answer = await client.get(path + from, signal);
    first ??= answer;
    items.push(...answer.items);
    cursor = answer.nextCursor;
    if (cursor === null) break;
  }
  return { items, more: cursor !== null, first };
}

// Repeats the work with a wait in between, and stops while the page is hidden.
/** @type {(signal: AbortSignal, everyMs: number, work: () => Promise<void>) => Promise<void>} */
async function repeat(signal, everyMs, work) {
  while (!signal.aborted) {
    await work();
    await sleep(everyMs, signal);
    await untilVisible(signal);
  }
}

/**
 * Whether an error is of the daemon as a whole, which the banner above every page shows: no answer, or no
 * Redis; pure.
 * @param {unknown} error
 */
export function isAway(error) {
  return error instanceof ApiError && ['unreachable', 'store_unavailable'].includes(error.code);
}

/** @type {(error: unknown) => ApiError} */
function asApiError(error) {
  if (error instanceof ApiError) return error;
  return new ApiError(0, 'unexpected', `The answer could not be read: ${String(error)}`);
}
