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
  return until(() => !document.hidden || signal.aborted, signal);
}

/**
 * Aborts once the page is hidden, or with another signal.
 * @param {AbortSignal} signal
 */
export function whileVisible(signal) {
  const hidden = new AbortController();
  void until(() => document.hidden || signal.aborted, signal).then(() => hidden.abort());
  return hidden.signal;
}

/** @type {(holds: () => boolean, signal: AbortSignal) => Promise<void>} */
function until(holds, signal) {
  return new Promise((resolve) => {
    const look = () => {
      if (!holds()) return;
      document.removeEventListener('visibilitychange', look);
      signal.removeEventListener('abort', look);
      resolve();
    };
    document.addEventListener('visibilitychange', look);
    signal.addEventListener('abort', look);
    look();
  });
}
