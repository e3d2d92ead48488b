import { useState } from '../../vendor/hooks.js';
import { number } from '../format.js';
import { html } from '../html.js';
import { Text } from '../parts.js';

const shownAtFirst = 6;
const shownOnPhone = 3;

/**
 * How many of a list have each value, most first; a click shows these only, another one all again.
 * @param {{ title: string, items: { value: string | null, count: number }[], chosen: string | null, onChoose:
 * (value: string | null) => void }} props a value of null stands for none and cannot be chosen
 */
export function Facets({ title, items, chosen, onChoose }) {
  const [isLong, setLong] = useState(false);
  const few = matchMedia('(max-width: 40rem)').matches ? shownOnPhone : shownAtFirst;
  const shown = isLong ? items : items.filter(({ value }, at) => at < few || value === chosen);
  return html`<section class="facets" aria-label=${title}>
    <h2>${title}</h2>
    <ul>
      ${shown.map(
        ({ value, count }) =>
          html`<li key=${value}>
            <button
              type="button"
              aria-pressed=${value !== null && value === chosen}
              aria-disabled=${value === null}
              onClick=${() => value !== null && onChoose(value === chosen ? null : value)}
            >
              <span class="facet-count">${number(count)}</span>
              <span class="facet-value"
                >${value === null ? html`<span class="none">none given</span>` : html`<${Text} value=${value} />`}</span
              >
            </button>
          </li>`,
      )}
    </ul>
    ${
      items.length > shown.length &&
      html`<button type="button" class="link" onClick=${() => setLong(true)}>
        ${number(items.length - shown.length)} more
      </button>`
    }
  </section>`;
}
