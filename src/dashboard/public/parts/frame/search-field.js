import { useEffect, useRef } from '../../vendor/hooks.js';
import { html } from '../html.js';
import { href, parseHash, useHash } from '../../router.js';

/** The search over all filings, on every page; the key `/` leads there. */
export function SearchField() {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [area, asked] = parseHash(useHash());
  useEffect(() => {
    if (field.current !== null) field.current.value = area === 'search' ? (asked ?? '') : '';
  }, [area, asked]);
  useEffect(() => {
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
  const press = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== '/' || isTyping(event)) return;
    event.preventDefault();
    field.current?.focus();
    field.current?.select();
  };
  const search = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const q = field.current?.value.trim() ?? '';
    if (q !== '') location.hash = href('search', q);
  };
  return html`<form class="search" role="search" aria-label="Filings" onSubmit=${search}>
    <input
      ref=${field}
      type="search"
      name="q"
      maxlength="200"
      aria-label="Find a filing: policy number, insured or id"
      aria-keyshortcuts="/"
      placeholder="Policy number, insured or id"
      autocomplete="off"
      enterkeyhint="search"
    />
  </form>`;
}

/**
 * Goes to a page after `g` and a letter, as the address names it.
 * @param {Readonly<Record<string, string>>} places hashes by letter
 */
export function useShortcuts(places) {
  useEffect(() => {
    let began = 0;
    const press = (/** @type {KeyboardEvent} */ event) => {
      if (isTyping(event)) return;
      const to = event.timeStamp - began < 1000 ? places[event.key] : undefined;
      began = event.key === 'g' ? event.timeStamp : 0;
      if (to !== undefined) location.hash = to;
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [places]);
}

/** @type {(event: KeyboardEvent) => boolean} */
function isTyping({ target, altKey, ctrlKey, metaKey, isComposing }) {
  if (altKey || ctrlKey || metaKey || isComposing) return true;
  return target instanceof Element && target.closest('input, select, textarea, dialog') !== null;
}
