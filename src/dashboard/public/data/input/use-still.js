import { useCallback, useEffect, useRef, useState } from '../../vendor/hooks.js';

/**
 * Rows of a list as they are shown.
 * @template T
 * @typedef {object} Still
 * @property {T[]} items
 * @property {number} added rows that wait to be shown
 * @property {number} gone rows that are shown and no longer in the list
 * @property {() => void} release shows the list as it is
 * @property {{ current: HTMLDivElement | null }} box to be put around the rows
 */

/**
 * Which rows are shown while none may move: those that were, each as it is now; pure.
 * @template T
 * @param {T[]} shown
 * @param {T[]} latest
 * @param {(item: T) => string} keyOf
 */
export function hold(shown, latest, keyOf) {
  const now = new Map(latest.map((item) => [keyOf(item), item]));
  const before = new Set(shown.map(keyOf));
  return {
    items: shown.map((item) => now.get(keyOf(item)) ?? item),
    added: latest.filter((item) => !before.has(keyOf(item))).length,
    gone: shown.filter((item) => !now.has(keyOf(item))).length,
  };
}

/**
 * Holds the rows of a list still while the pointer or the focus is among them.
 * @template T
 * @param {T[]} latest
 * @param {(item: T) => string} keyOf
 * @param {string} subject what is listed: a list of another subject is shown at once
 * @returns {Still<T>}
 */
export function useStill(latest, keyOf, subject) {
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [isHeld, setHeld] = useState(false);
  const shown = useRef({ subject, items: latest });
  const [, setTurn] = useState(0);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    const look = () => setHeld(element.matches(':hover') || element.querySelector(':focus-visible') !== null);
    const kinds = ['pointerenter', 'pointerleave', 'focusin', 'focusout'];
    // The focus has moved on only after its event.
    const soon = () => setTimeout(look, 0);
    for (const kind of kinds) element.addEventListener(kind, soon);
    return () => {
      for (const kind of kinds) element.removeEventListener(kind, soon);
    };
  }, []);
  const release = useCallback(() => {
    shown.current = { ...shown.current, subject: '' };
    setTurn((turn) => turn + 1);
  }, []);
  if (!isHeld || shown.current.subject !== subject) shown.current = { subject, items: latest };
  return { ...hold(shown.current.items, latest, keyOf), release, box };
}
