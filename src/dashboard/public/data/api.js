import { createContext, useCallback, useContext, useEffect, useState } from '../html.js';
import { withQuery } from '../router.js';
import { noteRead, sleep, suspect, untilVisible } from './daemon.js';

/** @import { Page } from '../../api-types.ts' */

/** An error response of the API, or no response at all (status 0, code `unreachable`). */
export class ApiError extends Error {
  /**
   * @param {number} status
   * @param {string} code stable, see the API reference
   * @param {string} detail a sentence that says what to do
   * @param {{ path: string, message: string }[]} errors each wrong value of the request
   */
  constructor(status, code, detail, errors = []) {
    super(detail);
    this.status = status;
    this.code = code;
    this.errors = errors;
  }
}

const mode = globalThis.self === globalThis.top ? 'page' : 'frame';

/**
 * Calls the API of the daemon that served this page.
 * @typedef {object} ApiClient
 * @property {(path: string, signal?: AbortSignal) => Promise<any>} get the parsed answer; rejects with
 * ApiError
 * @property {(method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
 * Promise<any>} send the parsed answer, null when it is empty
 * @property {(path: string, mediaType: string) => Promise<Blob>} getAs an answer of a media type; rejects
 * with ApiError
 * @property {() => number} now milliseconds on the daemon's clock, to within a second
 */

/**
 * Calls with the session's cookie, which the browser adds. It counts only with the header that says whether
 * the page is framed, because no page of another origin can send that.
 * @param {() => void} onRefused called for every answer 401
 * @returns {ApiClient}
 */
export function createApiClient(onRefused) {
  let skewMs = 0;

  /** @type {(path: string, init: RequestInit, headers?: Record<string, string>) => Promise<Response>} */
  async function request(path, init, headers = {}) {
    const response = await reach(path, {
      ...init,
      headers: { ...headers, 'x-filing-webhooks': mode },
      cache: 'no-store',
      credentials: 'same-origin',
      redirect: 'error',
    });
    const date = Date.parse(response.headers.get('date') ?? '');
    if (!Number.isNaN(date)) skewMs = date - Date.now();
    if (response.ok) return response;
    if (response.status === 401) onRefused();
    throw await toApiError(response);
  }

  return {
    get: async (path, signal) => (await request(path, signal === undefined ? {} : { signal })).json(),
    async send(method, path, body, more = {}) {
      const json = body === undefined ? {} : { body: JSON.stringify(body) };
      const headers = body === undefined ? more : { ...more, 'content-type': 'application/json' };
      const text = await (await request(path, { method, ...json }, headers)).text();
      return text === '' ? null : JSON.parse(text);
    },
    getAs: async (path, mediaType) => (await request(path, {}, { accept: mediaType })).blob(),
    now: () => Date.now() + skewMs,
  };
}

/**
 * A path below `/v1`; each segment may hold any character.
 * @param {...string} segments
 */
export function apiPath(...segments) {
  return ['v1', ...segments.map((segment) => encodeURIComponent(segment.toWellFormed()))].join('/');
}

/** @type {(path: string, init: RequestInit) => Promise<Response>} */
async function reach(path, init) {
  try {
    return await fetch(new URL(path, document.baseURI), init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new ApiError(
      0,
      'unreachable',
      'The daemon does not answer. Check that it runs and that this machine reaches it.',
    );
  }
}

/** @type {(response: Response) => Promise<ApiError>} */
async function toApiError(response) {
  try {
    const { code, detail, errors } = await response.json();
    return new ApiError(response.status, String(code), String(detail), errorsOf(errors));
  } catch {
    const detail = `The answer was ${response.status} without a reason. A proxy in between may have sent it; see the daemon's log.`;
    return new ApiError(response.status, 'unknown', detail);
  }
}

/** @type {(errors: unknown) => { path: string, message: string }[]} */
function errorsOf(errors) {
  if (!Array.isArray(errors)) return [];
  return errors.map((error) => ({ path: String(error?.path ?? ''), message: String(error?.message ?? '') }));
}

/**
 * Saves an answer of the API as a file. Rejects with ApiError.
 * @param {ApiClient} client
 * @param {string} path
 * @param {string} mediaType which the answer shall have
 * @param {string} name of the file
 */
export async function download(client, path, mediaType, name) {
  const address = URL.createObjectURL(await client.getAs(path, mediaType));
  const link = document.createElement('a');
  link.href = address;
  link.download = name;
  link.click();
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** The client of the user who is signed in. */
export const ClientContext = createContext(
  /** @type {import('./api.js').ApiClient} */ (/** @type {unknown} */ (null)),
);

/** @returns {import('./api.js').ApiClient} */
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
    const { signal } = leave;
    const readOn = async () => {
      while (!signal.aborted) {
        try {
          const data = await read(signal);
          noteRead();
          if (!signal.aborted) setState({ subject, data, error: null });
        } catch (error) {
          if (signal.aborted) return;
          if (isAway(error)) suspect();
          setState((before) => {
            const data = before.subject === subject ? before.data : null;
            return { subject, data, error: asApiError(error) };
          });
        }
        await sleep(everyMs, signal);
        await untilVisible(signal);
      }
    };
    void readOn();
    return () => leave.abort();
  }, [read, everyMs, subject, turn]);
  const reload = useCallback(() => setTurn((before) => before + 1), []);
  const current = state.subject === subject ? state : { data: null, error: null };
  return { data: current.data, error: current.error, reload };
}

/**
 * @type {(client: import('./api.js').ApiClient, path: string, pages: number, signal: AbortSignal) =>
 * Promise<{ items: any[], more: boolean, first: any }>}
 */
async function readPages(client, path, pages, signal) {
  const items = [];
  let cursor = null;
  let first = null;
  for (let page = 0; page < pages; page += 1) {
    /** @type {Page<unknown>} */
    const answer = await client.get(withQuery(path, { cursor }), signal);
    first ??= answer;
    items.push(...answer.items);
    cursor = answer.nextCursor;
    if (cursor === null) break;
  }
  return { items, more: cursor !== null, first };
}

/**
 * Whether an error is of the daemon as a whole, which the banner above every page shows: no answer, or no
 * Redis; pure.
 * @param {unknown} error
 */
export function isAway(error) {
  return error instanceof ApiError && ['unreachable', 'store_unavailable'].includes(error.code);
}

/**
 * The error of a request; pure.
 * @param {unknown} error
 */
export function asApiError(error) {
  if (error instanceof ApiError) return error;
  return new ApiError(0, 'unexpected', `The answer could not be read: ${String(error)}`);
}
