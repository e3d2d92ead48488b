import { createContext } from '../vendor/preact.js';
import { useContext, useEffect, useState } from '../vendor/hooks.js';

/**
 * The page's knowledge of the daemon as a whole.
 * @typedef {object} Pulse
 * @property {() => readonly string[]} reasons why the daemon does not keep its promise; empty while it does
 * @property {(reasons: readonly string[]) => void} setReasons
 * @property {() => number | null} lastReadAt when anything was last read, in milliseconds of this machine's
 * clock
 * @property {() => void} noteRead
 * @property {() => void} suspect a request had no answer: the daemon is looked at at once
 * @property {(listener: (what: 'reasons' | 'suspicion') => void) => () => void} listen returns how it ends
 */

/**
 * A pulse before anything was read.
 * @returns {Pulse}
 */
export function createPulse() {
  /** @type {Set<(what: 'reasons' | 'suspicion') => void>} */
  const listeners = new Set();
  /** @type {readonly string[]} */
  let reasons = [];
  /** @type {number | null} */
  let lastReadAt = null;
  const tell = (/** @type {'reasons' | 'suspicion'} */ what) =>
    listeners.forEach((listener) => listener(what));
  return {
    reasons: () => reasons,
    setReasons(found) {
      if (found.join('\n') === reasons.join('\n')) return;
      reasons = found;
      tell('reasons');
    },
    lastReadAt: () => lastReadAt,
    noteRead: () => (lastReadAt = Date.now()),
    suspect: () => tell('suspicion'),
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The one pulse of the page. */
export const PulseContext = createContext(createPulse());

/** @returns {Pulse} */
export const usePulse = () => useContext(PulseContext);

/** Why the daemon does not keep its promise, in words; renders again when that changes. */
export function useFaults() {
  const pulse = usePulse();
  const [reasons, setReasons] = useState(pulse.reasons());
  useEffect(() => {
    setReasons(pulse.reasons());
    return pulse.listen((what) => what === 'reasons' && setReasons(pulse.reasons()));
  }, [pulse]);
  return reasons;
}
