import { useState } from '../vendor/hooks.js';
import { fromLocal, toLocal } from '../attempts/local-time.js';
import { eventTones } from '../catalogue.js';
import { useTyped } from '../data/input/use-typed.js';
import { useNow } from './clock.js';
import { html } from './html.js';

/** @import { ComponentChildren } from 'preact' */

const presets = /** @type {const} */ ([
  ['Last hour', 3_600_000],
  ['Last day', 86_400_000],
  ['Last week', 604_800_000],
]);

/**
 * The filters of changes, kept in the address.
 * @param {{ query: URLSearchParams, setQuery: (filters: Record<string, string | null>) => void, children?:
 * ComponentChildren }} props
 */
export function FeedFilters({ query, setQuery, children }) {
  const now = useNow();
  const [isOpen, setOpen] = useState(['filingId', 'after', 'before'].some((name) => query.has(name)));
  const [search, setSearch] = useTyped(query.get('q') ?? '', (text) => setQuery({ q: text.trim() }));
  const [filing, setFiling] = useTyped(query.get('filingId') ?? '', (text) =>
    setQuery({ filingId: text.trim() }),
  );
  return html`<form class="filters" role="search" aria-label="Changes" onSubmit=${stay}>
    <label
      >Contains
      <input
        type="search"
        value=${search}
        onInput=${(/** @type {any} */ { target }) => setSearch(target.value)}
    /></label>
    <label
      >Type
      <select
        value=${query.get('types') ?? ''}
        onChange=${(/** @type {any} */ { target }) => setQuery({ types: target.value })}
      >
        <option value="">All types</option>
        ${Object.keys(eventTones).map((one) => html`<option key=${one} value=${one}>${one}</option>`)}
      </select></label
    >
    <button type="button" class="more-filters" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>
      More filters
    </button>
    <label class="further"
      >Id of a filing
      <input
        type="search"
        autocomplete="off"
        value=${filing}
        onInput=${(/** @type {any} */ { target }) => setFiling(target.value)}
    /></label>
    <${Instant}
      name="From"
      value=${query.get('after')}
      onChange=${(/** @type {string | null} */ after) => setQuery({ after })}
    />
    <${Instant}
      name="Until"
      value=${query.get('before')}
      onChange=${(/** @type {string | null} */ before) => setQuery({ before })}
    />
    <div class="chips further" role="group" aria-label="Period">
      ${presets.map(
        ([name, ms]) =>
          html`<button
            key=${name}
            type="button"
            onClick=${() => setQuery({ after: new Date(now - ms).toISOString(), before: null })}
          >
            ${name}
          </button>`,
      )}
      ${
        [...query.keys()].length > 0 &&
        html`<button
          type="button"
          onClick=${() => {
            setQuery(Object.fromEntries([...query.keys()].map((name) => [name, null])));
          }}
        >
          Clear
        </button>`
      }
    </div>
    ${children}
  </form>`;
}

/**
 * A time in the zone of the browser.
 * @param {{ name: string, value: string | null, onChange: (value: string | null) => void }} props
 */
function Instant({ name, value, onChange }) {
  return html`<label class="further"
    >${name}
    <input
      type="datetime-local"
      step="1"
      value=${toLocal(value)}
      onChange=${(/** @type {any} */ { target }) => onChange(fromLocal(target.value))}
  /></label>`;
}

/** @param {Event} event */
const stay = (event) => event.preventDefault();
