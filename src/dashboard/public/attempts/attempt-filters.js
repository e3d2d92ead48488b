import { outcomes } from './outcomes.js';
import { html } from '../parts/html.js';
import { useQuery } from '../router.js';
import { fromLocal, timeZone, toLocal } from './local-time.js';

/**
 * The filters of attempts that the address holds, as they are asked of the API.
 * @returns {Record<string, string>}
 */
export function useAttemptFilters() {
  const [query] = useQuery();
  const names = ['outcome', 'eventId', 'after', 'before'];
  return Object.fromEntries(
    names.map((name) => [name, query.get(name) ?? '']).filter(([, value]) => value !== ''),
  );
}

/** Filters of attempts: outcome, event and time. They are in the address, so a view can be passed on. */
export function AttemptFilters() {
  const [query, setQuery] = useQuery();
  const valueOf = (/** @type {Event} */ event) =>
    /** @type {HTMLInputElement | HTMLSelectElement} */ (event.currentTarget).value.trim();
  const time = (/** @type {'after' | 'before'} */ name) =>
    html`<input
      type="datetime-local"
      step="1"
      value=${toLocal(query.get(name))}
      onChange=${(/** @type {Event} */ event) => setQuery({ [name]: fromLocal(valueOf(event)) })}
    />`;
  const isFiltered = ['outcome', 'eventId', 'after', 'before'].some((name) => query.has(name));
  return html`<div class="filters" role="group" aria-label="Filters of attempts">
    <label
      >Outcome
      <select onChange=${(/** @type {Event} */ event) => setQuery({ outcome: valueOf(event) })}>
        <option value="" selected=${!query.has('outcome')}>Any</option>
        ${Object.entries(outcomes)
          .filter(([code]) => code !== 'expired' && code !== 'unreadable')
          .map(
            ([code, [name]]) =>
              html`<option key=${code} value=${code} selected=${query.get('outcome') === code}>
                ${name}
              </option>`,
          )}
      </select>
    </label>
    <label
      >Event id
      <input
        value=${query.get('eventId') ?? ''}
        placeholder="Any"
        autocomplete="off"
        spellcheck="false"
        onChange=${(/** @type {Event} */ event) => setQuery({ eventId: valueOf(event) })}
    /></label>
    <label>From ${time('after')}</label>
    <label>Until ${time('before')}</label>
    ${
      isFiltered &&
      html`<button
        type="button"
        onClick=${() => setQuery({ outcome: null, eventId: null, after: null, before: null })}
      >
        Clear filters
      </button>`
    }
    <p class="quiet zone">Times are in ${timeZone()}.</p>
  </div>`;
}
