import { ApiError, apiPath } from './api-client.js';
import { withQuery } from '../router.js';
import { sleep, untilVisible, whileVisible } from './sleep.js';

/** @import { ApiClient } from './api-client.js' */
/** @import { EventPage, FilingEvent } from '../../api-types.ts' */

/**
 * The state of the feed: an open stream, polling, no connection, or nothing to wait for.
 * @typedef {{ kind: 'connecting' } | { kind: 'past' } | { kind: 'live' } | { kind: 'polling' } | { kind:
 * 'broken', error:
 * ApiError }} FeedState
 */

/**
 * Which events are wanted; null where it does not matter. `after` and `before` are times of the API.
 * @typedef {{ types: string | null, filingId: string | null, after: string | null, before: string | null }}
 * FeedFilter
 */

/**
 * @typedef {object} FeedListener
 * @property {(events: FilingEvent[]) => void} onEvents oldest first, each once
 * @property {(state: FeedState) => void} onState
 */

/**
 * @typedef {object} HistoryListener
 * @property {(events: FilingEvent[], older: string | null) => void} onHistory once, before any other event:
 * the latest, newest first, and the cursor
 *   with which `readOlder` goes on, null when there is nothing older
 */

const silenceMaxMs = 45_000; // the daemon sends something every 15 s
const retryMs = 1000;
const pollEveryMs = 3000;
const pollsBeforeStream = 20;

/**
 * Passes on the wanted events of an account until the signal aborts: first the latest in the log, then each
 * new one, unless only earlier ones are wanted. A broken stream resumes where it ended; where streams do not
 * get through, the log is polled every few seconds. Resolves with nothing.
 * @param {ApiClient} client
 * @param {string} account
 * @param {FeedFilter} filter
 * @param {FeedListener & HistoryListener} given
 * @param {AbortSignal} signal
 */
export async function followEvents(client, account, filter, given, signal) {
  const listener = {
    ...given,
    onEvents: (/** @type {FilingEvent[]} */ events) =>
      given.onEvents(events.filter((event) => isWanted(event, filter))),
  };
  let cursor = null;
  while (cursor === null && !signal.aborted) {
    cursor = await begin(client, account, filter, listener, signal).catch(async (error) => {
      await reportBroken(listener, error, signal);
      return null;
    });
  }
  if (filter.before !== null) return listener.onState({ kind: 'past' });
  for (let failures = 0; cursor !== null && !signal.aborted;) {
    await untilVisible(signal);
    const stream = await readStream(client, account, cursor, listener, signal);
    cursor = stream.cursor;
    failures = stream.lived ? 0 : failures + 1;
    if (failures > 1) cursor = await poll(client, account, cursor, listener, signal);
    else await sleep(retryMs, signal);
  }
}

/**
 * Whether an event is wanted, but for its time; pure.
 * @param {FilingEvent} event
 * @param {FeedFilter} filter
 */
export function isWanted({ type, data }, { types, filingId }) {
  return (types === null || type === types) && (filingId === null || data['filingId'] === filingId);
}

/**
 * A page of the log, the latest event first.
 * @param {ApiClient} client
 * @param {string} account
 * @param {FeedFilter} filter
 * @param {string | null} cursor the `nextCursor` of the page before; null for the first
 * @param {AbortSignal} [signal]
 * @returns {Promise<EventPage>}
 */
export function readOlder(client, account, filter, cursor, signal) {
  const path = `${apiPath('accounts', account, 'events')}?order=newest&limit=100`;
  return client.get(withQuery(path, { ...filter, cursor }), signal);
}

/**
 * @type {(client: ApiClient, account: string, filter: FeedFilter, listener: FeedListener & HistoryListener,
 * signal: AbortSignal) => Promise<string>}
 */
async function begin(client, account, filter, { onHistory }, signal) {
  const { items, nextCursor, resumeCursor } = await readOlder(client, account, filter, null, signal);
  onHistory(items, nextCursor);
  return resumeCursor;
}

/** @type {(client: ApiClient, account: string, cursor: string, signal: AbortSignal) => Promise<EventPage>} */
function readLog(client, account, cursor, signal) {
  const from = encodeURIComponent(cursor);
  return client.get(`${apiPath('accounts', account, 'events')}?limit=100&cursor=${from}`, signal);
}

/**
 * Reads one stream to its end, however it ends.
 * @param {ApiClient} client
 * @param {string} account
 * @param {string} start
 * @param {FeedListener} listener
 * @param {AbortSignal} signal
 * @returns {Promise<{ cursor: string, lived: boolean }>} where the next one begins, and whether anything
 * arrived
 */
async function readStream(client, account, start, { onEvents, onState }, signal) {
  const silence = new AbortController();
  const done = new AbortController();
  const seen = whileVisible(AbortSignal.any([signal, silence.signal, done.signal]));
  let timer = setTimeout(() => silence.abort(), silenceMaxMs);
  let cursor = start;
  let lived = false;
  try {
    onState({ kind: 'connecting' });
    const response = await client.open(
      apiPath('accounts', account, 'events', 'stream'),
      { 'last-event-id': cursor },
      seen,
    );
    const parse = createSseParser();
    for await (const piece of textOf(response)) {
      if (!lived) onState({ kind: 'live' });
      lived = true;
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), silenceMaxMs);
      const messages = parse(piece);
      onEvents(messages.flatMap(({ data }) => (data === '' ? [] : [JSON.parse(data)])));
      cursor = messages.at(-1)?.id || cursor;
    }
  } catch {
    // The caller resumes it, or reads the log page by page.
  } finally {
    clearTimeout(timer);
    done.abort();
  }
  return { cursor, lived };
}

/** @type {(response: Response) => AsyncGenerator<string, void>} */
async function* textOf({ body }) {
  if (body === null) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    for (let step = await reader.read(); !step.done; step = await reader.read()) yield step.value;
  } finally {
    reader.cancel().catch(() => {});
  }
}

// Ends after a while, so that a stream is tried again now and then, and at once after a failure has ended.
/**
 * @type {(client: ApiClient, account: string, cursor: string, listener: FeedListener, signal: AbortSignal) =>
 * Promise<string>}
 */
async function poll(client, account, start, listener, signal) {
  let cursor = start;
  let broken = false;
  for (let turn = 0; turn < pollsBeforeStream && !signal.aborted; turn += 1) {
    try {
      const answer = await readLog(client, account, cursor, signal);
      cursor = answer.resumeCursor;
      listener.onState({ kind: 'polling' });
      listener.onEvents(answer.items);
      if (broken) return cursor;
      if (answer.nextCursor === null) await sleep(pollEveryMs, signal);
    } catch (error) {
      broken = true;
      await reportBroken(listener, error, signal);
    }
  }
  return cursor;
}

/** @type {(listener: FeedListener, error: unknown, signal: AbortSignal) => Promise<void>} */
async function reportBroken({ onState }, error, signal) {
  if (signal.aborted) return;
  const known = error instanceof ApiError ? error : new ApiError(0, 'unexpected', String(error));
  onState({ kind: 'broken', error: known });
  await sleep(pollEveryMs, signal);
}

/**
 * One message of an event stream.
 * @typedef {object} StreamMessage
 * @property {string} id the last id that was sent so far, empty before the first
 * @property {string} data empty where only an id was sent
 */

/**
 * Reads Server-Sent Events (WHATWG HTML §9.2.6) from pieces of text that end anywhere. Each call returns the
 * messages that the piece completes. Comments are left out; so are event names and retry times, which this
 * page has no use for.
 * @returns {(piece: string) => StreamMessage[]}
 */
export function createSseParser() {
  let rest = '';
  let id = '';
  /** @type {string[]} */
  let data = [];
  let touched = false;

  /** @type {(line: string) => StreamMessage[]} */
  function take(line) {
    if (line === '') return complete();
    const [, field, value = ''] = /^([^:]*)(?:: ?(.*))?$/s.exec(line) ?? [];
    if (field === 'data') data.push(value);
    if (field === 'id' && !value.includes('\0')) id = value;
    touched ||= field === 'data' || field === 'id';
    return [];
  }

  function complete() {
    const messages = touched ? [{ id, data: data.join('\n') }] : [];
    data = [];
    touched = false;
    return messages;
  }

  return (piece) => {
    const lines = (rest + piece).split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    return lines.flatMap(take);
  };
}
