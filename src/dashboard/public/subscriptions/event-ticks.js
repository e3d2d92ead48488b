import { useState } from '../vendor/hooks.js';
import { Group, Tick } from '../actions/fields.js';
import { eventMeanings, statusTones } from '../catalogue.js';
import { html } from '../parts/html.js';
import { eventGroups, includesEvent, toggleEvent } from './chosen-events.js';

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
