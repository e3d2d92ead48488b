import { useState } from '../vendor/hooks.js';
import { Group, Tick } from '../actions/fields.js';
import { apiPath } from '../data/api-client.js';
import { useResource } from '../data/use-resource.js';
import { html } from '../parts/html.js';
import { toggled } from './event-ticks.js';

/** @import { Filing, Page } from '../../api-types.ts' */
/** @import { Resource } from '../data/use-resource.js' */

const onceMs = 3_600_000;
const wellFormed = /^[A-Za-z]{2}$/;

/**
 * The states that a filing has to be in, as chips: those of the account's filings, and others by hand.
 * @param {{ account: string, chosen: readonly string[], onChange: (chosen: string[]) => void, problem: string
 * | null }} props
 */
export function StateChips({ account, chosen, onChange, problem }) {
  const seen = useSeenStates(account);
  // One that is taken out stays on offer.
  const [named, setNamed] = useState(chosen);
  const [text, setText] = useState('');
  const [refused, setRefused] = useState(/** @type {string | null} */ (null));
  const add = () => {
    const wanted = text.split(/[\s,;]+/).filter((one) => one !== '');
    const odd = wanted.filter((one) => !wellFormed.test(one));
    setRefused(odd.length === 0 ? null : `${odd.join(', ')}: a state has two letters, such as TX`);
    if (odd.length > 0) return;
    const states = wanted.map((one) => one.toUpperCase());
    onChange([...new Set([...chosen, ...states])]);
    setNamed([...named, ...states]);
    setText('');
  };
  const offered = [...new Set([...seen, ...named])].toSorted();
  return html`<${Group}
    legend="Only filings of these states"
    problem=${refused ?? problem}
    help="None ticked: every state. Events without a state, such as those of the account, always come."
  >
    <div class="row">
      ${offered.map(
        (state) =>
          html`<${Tick}
            key=${state}
            label=${html`<bdi>${state}</bdi>${!seen.includes(state) && seen.length > 0 ? html` <span class="quiet">not seen yet</span>` : ''}`}
            checked=${chosen.includes(state)}
            onToggle=${() => onChange(toggled(chosen, state))}
          />`,
      )}
      <span class="adder">
        <input
          aria-label="Another state"
          placeholder="Another state"
          size="12"
          autocomplete="off"
          value=${text}
          onInput=${(/** @type {InputEvent} */ event) =>
            setText(/** @type {HTMLInputElement} */ (event.currentTarget).value)}
          onKeyDown=${(/** @type {KeyboardEvent} */ event) => {
            if (event.key !== 'Enter') return;
            event.preventDefault();
            add();
          }}
        />
        <button type="button" onClick=${add}>Add</button>
      </span>
    </div>
  <//>`;
}

// The states of filings that the daemon has lately seen or that are rejected now.
/** @type {(account: string) => string[]} */
function useSeenStates(account) {
  /** @type {Resource<Page<Filing>>} */
  const latest = useResource(`${apiPath('accounts', account, 'filings')}?limit=100`, onceMs);
  /** @type {Resource<{ byState: { state: string | null }[] }>} */
  const rejected = useResource(`v1/rejections?account=${encodeURIComponent(account)}&limit=1`, onceMs);
  const states = [
    ...(latest.data?.items ?? []).map(({ stateAbbr }) => stateAbbr ?? ''),
    ...(rejected.data?.byState ?? []).map(({ state }) => state ?? ''),
  ];
  return [...new Set(states)].filter((state) => wellFormed.test(state)).toSorted();
}
