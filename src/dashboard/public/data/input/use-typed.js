import { useEffect, useRef, useState } from '../../vendor/hooks.js';

const pauseMs = 350;

/**
 * The text of a field whose effect waits for a pause in typing.
 * @param {string} value the text that has had its effect; another one from outside replaces what is typed
 * @param {(text: string) => void} onPause
 * @returns {[typed: string, setTyped: (text: string) => void]}
 */
export function useTyped(value, onPause) {
  const [typed, setText] = useState(value);
  const timer = useRef(0);
  const effect = useRef(onPause);
  effect.current = onPause;
  useEffect(
    () => setText((text) => (text.trim().toLowerCase() === value.toLowerCase() ? text : value)),
    [value],
  );
  useEffect(() => () => clearTimeout(timer.current), []);
  return [
    typed,
    (text) => {
      setText(text);
      clearTimeout(timer.current);
      timer.current = window.setTimeout(() => effect.current(text), pauseMs);
    },
  ];
}
