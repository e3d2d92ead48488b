import { h } from './vendor/preact.js';
import { useEffect, useState } from './vendor/hooks.js';
import { htm } from './vendor/htm.js';

export { createContext, render } from './vendor/preact.js';
export * from './vendor/hooks.js';

const build = htm.bind(h);

/** @type {WeakMap<TemplateStringsArray, TemplateStringsArray>} */
const prepared = new WeakMap();

/**
 * Markup as tagged templates. Every value in them becomes text or an attribute, never markup. A line break
 * counts as a space, as in HTML and unlike in htm, so a formatter may break a sentence anywhere.
 * @param {TemplateStringsArray} strings
 * @param {...unknown} values
 */
export function html(strings, ...values) {
  const known = prepared.get(strings);
  if (known !== undefined) return build(known, ...values);
  const flat = strings.map((text) =>
    text.replaceAll(/\s+/g, (blank) => (blank.includes('\n') ? ' ' : blank)),
  );
  const template = Object.assign(flat, { raw: flat });
  prepared.set(strings, template);
  return build(template, ...values);
}

/**
 * The result of `read`; renders again when an event of the target has changed it.
 * @template T
 * @param {EventTarget} target
 * @param {string} event
 * @param {() => T} read
 * @returns {T}
 */
export function useLatest(target, event, read) {
  const [latest, setLatest] = useState(read);
  useEffect(() => {
    const follow = () => setLatest(read);
    // It may have changed since it was rendered.
    follow();
    target.addEventListener(event, follow);
    return () => target.removeEventListener(event, follow);
  }, []);
  return latest;
}
