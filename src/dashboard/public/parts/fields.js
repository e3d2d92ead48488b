import { useEffect, useId, useRef } from '../vendor/hooks.js';
import { html } from '../html.js';
import { useAction } from './actions.js';
import { Failure, Text } from './parts.js';

/** @import { ComponentChildren } from 'preact' */
/** @import { ApiError } from '../data/api-client.js' */
/** @import { Action } from './actions.js' */

/**
 * What is wrong with a field of a request, or with a part of it such as `headers.Content-Type`; null if
 * nothing is. Pure.
 * @param {ApiError | null} error
 * @param {string} name
 */
export function problemOf(error, name) {
  const found = error?.errors.filter(({ path }) => path === name || path.startsWith(`${name}.`)) ?? [];
  if (found.length === 0) return null;
  return found
    .map(({ path, message }) =>
      `${path.slice(name.length + 1)} ${message.replace(/^is refused: /, '')}`.trim(),
    )
    .join('; ');
}

/**
 * A form of a whole page with its buttons. A refusal stands beside the fields that it names, and the first of
 * them has the focus; what no field shows stands below.
 * @param {{ fields: readonly string[], save: () => Promise<void>, verb: string, what: string, cancel: string,
 * show: (error: ApiError | null) => ComponentChildren, more?: (action: Action) => ComponentChildren }} props
 * `fields`: names in the request of those that `show` has; `what` completes "Could not …"; `cancel`: address;
 * `more`: further buttons
 */
export function PageForm({ fields, save, verb, what, cancel, show, more }) {
  const action = useAction();
  const { busy, error } = action;
  const form = useRef(/** @type {HTMLFormElement | null} */ (null));
  useEffect(() => {
    if (error === null) return;
    const wrong = form.current?.querySelector('[aria-invalid="true"], [data-invalid]');
    if (wrong instanceof HTMLElement) wrong.focus();
  }, [error]);
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    action.run(save);
  };
  const faults = error?.errors ?? [];
  const areBeside =
    faults.length > 0 && faults.every(({ path }) => fields.includes(path.split('.')[0] ?? ''));
  return html`<form class="form" ref=${form} onSubmit=${submit}>
    ${show(error)}
    ${
      areBeside
        ? html`<p class="notice bad" role="alert">Could not ${what}: see the fields above.</p>`
        : html`<${Failure} error=${error} what=${what} />`
    }
    <div class="buttons">
      <button type="submit" class="primary" aria-disabled=${busy}>${verb}</button>
      ${more?.(action)}
      <a href=${cancel}>Cancel</a>
      ${busy && html`<span class="loading" role="status">In progress …</span>`}
    </div>
  </form>`;
}

/**
 * A field with its name, a line of help and what is wrong with it: one line of text, or one choice of a few.
 * @param {{ label: string, name: string, value: string, onInput: (value: string) => void, problem?: string |
 * null, help?: ComponentChildren, beside?: ComponentChildren, options?: readonly (readonly [value: string,
 * label: string])[], more?: Record<string, unknown> }} props `more`: attributes of the input
 */
export function Field({ label, name, value, onInput, problem = null, help, beside, options, more = {} }) {
  const id = useId();
  const same = {
    id,
    name,
    value,
    'aria-invalid': problem !== null,
    'aria-describedby': `${id}-help ${id}-problem`,
    ...more,
  };
  const take = (/** @type {Event} */ event) => onInput(valueOf(event));
  return html`<div class="field">
    <label for=${id}>${label}</label>
    ${
      options === undefined
        ? html`<input ...${same} onInput=${take} />`
        : html`<select ...${same} onChange=${take}>
            <${Options} options=${options} value=${value} />
          </select>`
    }
    ${beside && html`<div class="buttons">${beside}</div>`}
    <p id=${`${id}-help`} class="quiet help">${help}</p>
    <${Problem} id=${`${id}-problem`} problem=${problem} />
  </div>`;
}

/**
 * The options of a list.
 * @param {{ options: readonly (readonly [value: string | number, label: string])[], value: string | number }}
 * props
 */
export function Options({ options, value }) {
  return options.map(
    ([one, label]) => html`<option key=${one} value=${one} selected=${one === value}>${label}</option>`,
  );
}

/**
 * Several fields that belong together, and what is wrong with them.
 * @param {{ legend: string, problem?: string | null, help?: ComponentChildren, children?: ComponentChildren
 * }} props
 */
export function Group({ legend, problem = null, help, children }) {
  const id = useId();
  return html`<fieldset
    class="group"
    tabindex="-1"
    data-invalid=${problem === null ? undefined : 'true'}
    aria-describedby=${`${id}-problem`}
  >
    <legend>${legend}</legend>
    ${help && html`<p class="quiet help">${help}</p>`} ${children}
    <${Problem} id=${`${id}-problem`} problem=${problem} />
  </fieldset>`;
}

/**
 * One thing that is chosen or not, with a line of explanation.
 * @param {{ label: ComponentChildren, checked: boolean, onToggle: () => void, help?: string, isFixed?:
 * boolean }} props `isFixed`: it cannot be changed now
 */
export function Tick({ label, checked, onToggle, help, isFixed = false }) {
  return html`<label class="tick"
    ><input type="checkbox" checked=${checked} disabled=${isFixed} onChange=${onToggle} />
    <span>${label}${help && html` <span class="quiet">${help}</span>`}</span></label
  >`;
}

/**
 * The chosen ones after a click on one; pure.
 * @param {readonly string[]} chosen
 * @param {string} one
 */
export function toggled(chosen, one) {
  return chosen.includes(one) ? chosen.filter((other) => other !== one) : [...chosen, one];
}

/** @param {{ id: string, problem: string | null }} props */
function Problem({ id, problem }) {
  return html`<p id=${id} class="problem">${problem !== null && html`<${Text} value=${problem} />`}</p>`;
}

/**
 * The text of a field of a form without blanks around it; empty if there is none. Pure.
 * @param {FormData} form
 * @param {string} name
 */
export function textOf(form, name) {
  const value = form.get(name);
  return typeof value === 'string' ? value.trim() : '';
}

/**
 * The text of the field that an event is about.
 * @param {Event} event
 */
export function valueOf({ currentTarget }) {
  return /** @type {HTMLInputElement | HTMLSelectElement} */ (currentTarget).value;
}
