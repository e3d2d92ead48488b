import { html, useEffect, useRef, useState } from '../html.js';
import { useQuery } from '../router.js';
import { Options, valueOf } from './forms.js';
import { fromLocal, toLocal } from './format.js';

/** @import { ComponentChildren } from 'preact' */

const pauseMs = 350;

// Each filter is kept in the address under its name, so that a view can be passed on.

/**
 * Filters side by side.
 * @param {{ label: string, children?: ComponentChildren }} props
 */
export function Filters({ label, children }) {
  const stay = (/** @type {Event} */ event) => event.preventDefault();
  return html`<form class="filters" role="search" aria-label=${label} onSubmit=${stay}>${children}</form>`;
}

/**
 * A text whose effect waits for a pause in typing, and no longer than until the field is left: then a link
 * that is clicked has it already.
 * @param {{ label: string, name: string, upper?: boolean, more?: Record<string, unknown> }} props `more`:
 * attributes of the input
 */
export function TextFilter({ label, name, upper = false, more = {} }) {
  const [query, setQuery] = useQuery();
  const value = query.get(name) ?? '';
  const [typed, setTyped] = useState(value);
  const timer = useRef(0);
  useEffect(
    () => setTyped((text) => (text.trim().toLowerCase() === value.toLowerCase() ? text : value)),
    [value],
  );
  useEffect(() => () => clearTimeout(timer.current), []);
  const take = (/** @type {string} */ text) => {
    clearTimeout(timer.current);
    setQuery({ [name]: upper ? text.trim().toUpperCase() : text.trim() });
  };
  const type = (/** @type {Event} */ event) => {
    const text = valueOf(event);
    setTyped(text);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => take(text), pauseMs);
  };
  const leave = (/** @type {Event} */ event) => take(valueOf(event));
  return html`<label
    >${label}
    <input type="search" value=${typed} autocomplete="off" onInput=${type} onChange=${leave} ...${more}
  /></label>`;
}

/**
 * One of a few; the empty value stands for no filter.
 * @param {{ label: string, name: string, options: readonly (readonly [value: string, label: string])[] }}
 * props
 */
export function ChoiceFilter({ label, name, options }) {
  const [query, setQuery] = useQuery();
  const value = query.get(name) ?? '';
  return html`<label
    >${label}
    <select value=${value} onChange=${(/** @type {Event} */ event) => setQuery({ [name]: valueOf(event) })}>
      <${Options} options=${options} value=${value} />
    </select>
  </label>`;
}

/**
 * A time in the zone of the browser.
 * @param {{ label: string, name: string }} props
 */
export function TimeFilter({ label, name }) {
  const [query, setQuery] = useQuery();
  return html`<label
    >${label}
    <input
      type="datetime-local"
      step="1"
      value=${toLocal(query.get(name))}
      onChange=${(/** @type {Event} */ event) => setQuery({ [name]: fromLocal(valueOf(event)) })}
  /></label>`;
}

/**
 * Chips of which one or none is pressed.
 * @param {{ label: string, name: string, options: readonly (readonly [value: string | null, label:
 * string])[], isOptional?: boolean, preset?: string | null }} props `isOptional`: a second click takes the
 * filter away; `preset`: the one without a choice
 */
export function ChipFilter({ label, name, options, isOptional = false, preset = null }) {
  const [query, setQuery] = useQuery();
  const present = query.get(name) ?? preset;
  return html`<div class="chips" role="group" aria-label=${label}>
    ${options.map(
      ([value, text]) =>
        html`<button
          key=${text}
          type="button"
          aria-pressed=${value === present}
          onClick=${() => setQuery({ [name]: isOptional && value === present ? null : value })}
        >
          ${text}
        </button>`,
    )}
  </div>`;
}

/**
 * Takes filters away; nothing while there are none of these.
 * @param {{ names: readonly string[] }} props
 */
export function ClearFilters({ names }) {
  const [query, setQuery] = useQuery();
  if (!names.some((name) => query.has(name))) return null;
  const clear = () => setQuery(Object.fromEntries(names.map((name) => [name, null])));
  return html`<button type="button" onClick=${clear}>Clear filters</button>`;
}
