import { Group } from '../actions/fields.js';
import { html } from '../parts/html.js';
import { Text } from '../parts/parts.js';

/**
 * The custom headers of a subscription. Their values are never shown again, so those that there are either
 * stay as a whole or are all given anew.
 * @param {{ headers: readonly { name: string, value: string }[] | null, known: readonly string[], onChange:
 * (headers: { name: string, value: string }[] | null) => void, problem: string | null }} props `known`: the
 * names of those that there are
 */
export function HeaderFields({ headers, known, onChange, problem }) {
  const rows = headers ?? [];
  const set = (/** @type {number} */ place, /** @type {Partial<{ name: string, value: string }>} */ part) =>
    onChange(rows.map((row, at) => (at === place ? { ...row, ...part } : row)));
  const replace = () => onChange(known.map((name) => ({ name, value: '' })));
  if (headers === null && known.length > 0)
    return html`<${Group} legend="Custom headers" problem=${problem}>
      <p>Kept as they are: <${Text} value=${known.join(', ')} />. Their values are hidden.</p>
      <button type="button" onClick=${replace}>Replace all headers</button>
    <//>`;
  return html`<${Group}
    legend="Custom headers"
    problem=${problem}
    help="Sent with every request, for example an authorization that the receiver expects. Values are sealed and never shown again."
  >
    ${rows.map(
      ({ name, value }, place) =>
        html`<div key=${place} class="pair">
          <input
            aria-label=${`Name of header ${place + 1}`}
            placeholder="Name"
            autocomplete="off"
            spellcheck="false"
            value=${name}
            onInput=${(/** @type {InputEvent} */ event) => set(place, { name: textOf(event) })}
          />
          <input
            aria-label=${`Value of header ${place + 1}`}
            placeholder="Value"
            autocomplete="off"
            spellcheck="false"
            value=${value}
            onInput=${(/** @type {InputEvent} */ event) => set(place, { value: textOf(event) })}
          />
          <button
            type="button"
            aria-label=${`Remove header ${place + 1}`}
            onClick=${() => onChange(rows.filter((_, at) => at !== place))}
          >
            Remove
          </button>
        </div>`,
    )}
    <div class="buttons">
      <button type="button" onClick=${() => onChange([...rows, { name: '', value: '' }])}>
        Add a header
      </button>
      ${known.length > 0 && html`<button type="button" onClick=${() => onChange(null)}>Keep the present headers</button>`}
    </div>
  <//>`;
}

/** @type {(event: InputEvent) => string} */
const textOf = ({ currentTarget }) => /** @type {HTMLInputElement} */ (currentTarget).value;
