import { useLatest } from '../html.js';

const lookEveryMs = 10_000;
const afterSuspicionMs = 2000;

const away = 'The daemon does not answer. Check that it runs and that this machine reaches it.';

// The page's knowledge of the daemon as a whole, the same for every part of it.
/** @type {readonly string[]} */
let faults = [];
/** @type {number | null} */
let lastReadAt = null;
let wake = new AbortController();
const news = new EventTarget();

/** Notes that something was read just now. */
export const noteRead = () => void (lastReadAt = Date.now());

/** When something was last read, in milliseconds of this machine's clock; null before the first time. */
export const timeOfLastRead = () => lastReadAt;

/** Notes that a request had no answer: the daemon is looked at at once. */
export const suspect = () => wake.abort();

/**
 * Reasons why the daemon does not keep its promise, in words; none while it does. Renders again when that
 * changes.
 */
export const useFaults = () => useLatest(news, 'faults', () => faults);

/**
 * Looks at the daemon every few seconds, and at once when a request had no answer, until the signal aborts.
 * @param {AbortSignal} signal
 */
export async function watchDaemon(signal) {
  while (!signal.aborted) {
    wake = new AbortController();
    const found = await readReasons(signal);
    if (signal.aborted) return;
    const isNew = found.join('\n') !== faults.join('\n');
    faults = found;
    if (isNew) news.dispatchEvent(new Event('faults'));
    if (found.length > 0) await sleep(afterSuspicionMs, signal);
    else await sleep(lookEveryMs, AbortSignal.any([signal, wake.signal]));
  }
}

/** @type {(signal: AbortSignal) => Promise<string[]>} */
async function readReasons(signal) {
  try {
    const response = await fetch(new URL('health/ready', document.baseURI), { signal, cache: 'no-store' });
    const { reasons } = await response.json();
    return Array.isArray(reasons) ? reasons.map(String) : [];
  } catch {
    return [away];
  }
}

/**
 * Resolves after a time, or as soon as the signal aborts.
 * @param {number} ms
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
export function sleep(ms, signal) {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, signal.aborted ? 0 : ms);
    signal.addEventListener('abort', end);
  });
}

/**
 * Resolves as soon as the page is visible, or the signal aborts.
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 */
export function untilVisible(signal) {
  return new Promise((resolve) => {
    const look = () => {
      if (document.hidden && !signal.aborted) return;
      document.removeEventListener('visibilitychange', look);
      signal.removeEventListener('abort', look);
      resolve();
    };
    document.addEventListener('visibilitychange', look);
    signal.addEventListener('abort', look);
    look();
  });
}
