import { useState } from '../vendor/hooks.js';
import { Group, Tick } from '../parts/fields.js';
import { eventMeanings, statusTones } from '../catalogue.js';
import { html } from '../html.js';
import { apiPath } from '../data/api-client.js';
import { useResource } from '../data/use-resource.js';

/** @import { Filing, Page } from '../../api-types.ts' */
/** @import { Resource } from '../data/use-resource.js' */

/** @type {Readonly<Record<string, readonly [title: string, all: string, help: string]>>} */
const groups = {
  'filing.*': ['Filings', 'Every filing event', 'Also those that later versions add.'],
  'account.*': ['Polling of the account', 'Every account event', 'Also those that later versions add.'],
  'subscription.*': ['Deliveries', 'Every subscription event', 'Also those that later versions add.'],
};

/**
 * The event types that a subscription asks for, as ticks.
 * @param {{ chosen: readonly string[], onChange: (chosen: string[]) => void, problem: string | null }} props
 */
export function EventTicks({ chosen, onChange, problem }) {
  return html`<${Group}
    legend="Events"
    problem=${problem}
    help=${chosen.length === 0 ? 'Choose at least one event.' : undefined}
  >
    ${[...eventGroups.keys()].map(
      (pattern) =>
        html`<${EventGroup} key=${pattern} pattern=${pattern} chosen=${chosen} onChange=${onChange} />`,
    )}
  <//>`;
}

/**
 * @param {{ pattern: string, chosen: readonly string[], onChange: (chosen: string[]) => void }} props
 */
function EventGroup({ pattern, chosen, onChange }) {
  const types = eventGroups.get(pattern) ?? [];
  const [title, label, help] = groups[pattern] ?? [pattern, pattern, ''];
  // Folded at first if nothing of it is chosen; from then on as the user has it.
  const [open] = useState(types.some((type) => includesEvent(chosen, type)));
  const ticked = (/** @type {string} */ one) => ({
    checked: includesEvent(chosen, one),
    onToggle: () => onChange(toggleEvent(chosen, one)),
  });
  return html`<details open=${open}>
    <summary>${title} <span class="quiet">${countOf(types, chosen)}</span></summary>
    <${Tick} ...${ticked(pattern)} label=${html`<strong>${label}</strong>`} help=${help} />
    <div class="ticks">
      ${types.map(
        (type) =>
          html`<${Tick}
            key=${type}
            ...${ticked(type)}
            label=${html`<code>${type}</code>`}
            help=${eventMeanings[type]}
          />`,
      )}
    </div>
  </details>`;
}

/**
 * The statuses that an event has to result in, as ticks.
 * @param {{ chosen: readonly string[], onChange: (chosen: string[]) => void, problem: string | null }} props
 */
export function StatusTicks({ chosen, onChange, problem }) {
  const statuses = [...new Set([...Object.keys(statusTones), ...chosen])];
  return html`<${Group}
    legend="Only with these statuses"
    problem=${problem}
    help="None ticked: any status. Tick REJECTED to get every rejection, also of a filing that is rejected when it is first seen."
  >
    <div class="row">
      ${statuses.map(
        (status) =>
          html`<${Tick}
            key=${status}
            label=${html`<bdi>${status}</bdi>`}
            checked=${chosen.includes(status)}
            onToggle=${() => onChange(toggled(chosen, status))}
          />`,
      )}
    </div>
  <//>`;
}

/** @type {(chosen: readonly string[], one: string) => string[]} */
export function toggled(chosen, one) {
  return chosen.includes(one) ? chosen.filter((other) => other !== one) : [...chosen, one];
}

/** @type {(types: readonly string[], chosen: readonly string[]) => string} */
function countOf(types, chosen) {
  const count = types.filter((type) => includesEvent(chosen, type)).length;
  return count === types.length ? 'all' : `${count} of ${types.length}`;
}

const types = Object.keys(eventMeanings);

/** Whether a type or a pattern is among the chosen, by its own name or by a wider pattern; pure. */
export const includesEvent = (/** @type {readonly string[]} */ chosen, /** @type {string} */ type) =>
  chosen.some((pattern) => covers(pattern, type));

/** The types of the log by their prefix, in order: `filing.*` → its types. */
export const eventGroups = Map.groupBy(types, (type) => `${type.slice(0, type.indexOf('.'))}.*`);

/**
 * The chosen patterns after a click on one of them; pure. A type that is taken out of a whole group leaves
 * the others of the group; a whole group takes the place of its types.
 * @param {readonly string[]} chosen
 * @param {string} pattern
 * @returns {string[]}
 */
export function toggleEvent(chosen, pattern) {
  if (!includesEvent(chosen, pattern)) {
    return [...chosen.filter((one) => !covers(pattern, one)), pattern];
  }
  if (chosen.includes(pattern)) return chosen.filter((one) => one !== pattern);
  const wider = chosen.filter((one) => covers(one, pattern));
  const split = wider.flatMap((one) => (one === '*' ? [...eventGroups.keys()] : membersOf(one)));
  const kept = chosen.filter((one) => !wider.includes(one));
  return toggleEvent([...new Set([...kept, ...split])], pattern);
}

/** @type {(pattern: string) => string[]} */
const membersOf = (pattern) => types.filter((type) => covers(pattern, type));

/** @type {(pattern: string, other: string) => boolean} */
function covers(pattern, other) {
  if (pattern === '*' || pattern === other) return true;
  return pattern.endsWith('.*') && other.startsWith(pattern.slice(0, -1));
}

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
