import { useEffect, useId, useRef, useState } from '../vendor/hooks.js';
import { html } from '../html.js';
import { Text } from './parts.js';

/** @import { ComponentChildren, RefObject } from 'preact' */
/** @import { ApiError } from '../data/api-client.js' */

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
 * Whether every fault that an error names stands beside one of these fields; pure.
 * @param {ApiError | null} error
 * @param {readonly string[]} names
 */
export function isAllBeside(error, names) {
  if (error === null || error.errors.length === 0) return false;
  return error.errors.every(({ path }) => names.includes(path.split('.')[0] ?? ''));
}

/**
 * Moves the focus to the first field that is wrong, when a request was refused.
 * @param {ApiError | null} error
 * @param {RefObject<HTMLElement | null>} form
 */
export function useFocusOnFault(error, form) {
  useEffect(() => {
    if (error === null) return;
    const wrong = form.current?.querySelector('[aria-invalid="true"], [data-invalid]');
    if (wrong instanceof HTMLElement) wrong.focus();
  }, [error, form]);
}

/**
 * A field of one line with its name, a line of help and what is wrong with it.
 * @param {{ label: string, name: string, value: string, onInput: (value: string) => void, problem?: string |
 * null, help?: ComponentChildren, beside?: ComponentChildren, more?: Record<string, unknown> }} props `more`:
 * attributes of the input
 */
export function TextField({ label, name, value, onInput, problem = null, help, beside, more = {} }) {
  const id = useId();
  return html`<div class="field">
    <label for=${id}>${label}</label>
    <input
      id=${id}
      name=${name}
      value=${value}
      aria-invalid=${problem !== null}
      aria-describedby=${`${id}-help ${id}-problem`}
      onInput=${(/** @type {InputEvent} */ event) =>
        onInput(/** @type {HTMLInputElement} */ (event.currentTarget).value)}
      ...${more}
    />
    ${beside && html`<div class="buttons">${beside}</div>`}
    <p id=${`${id}-help`} class="quiet help">${help}</p>
    <${Problem} id=${`${id}-problem`} problem=${problem} />
  </div>`;
}

/**
 * One choice of a few, as a list.
 * @param {{ label: string, name: string, value: string, options: readonly (readonly [value: string, label:
 * string])[], onInput: (value: string) => void, problem?: string | null, help?: ComponentChildren }} props
 */
export function ChoiceField({ label, name, value, options, onInput, problem = null, help }) {
  const id = useId();
  return html`<div class="field">
    <label for=${id}>${label}</label>
    <select
      id=${id}
      name=${name}
      value=${value}
      aria-invalid=${problem !== null}
      aria-describedby=${`${id}-help ${id}-problem`}
      onChange=${(/** @type {Event} */ event) =>
        onInput(/** @type {HTMLSelectElement} */ (event.currentTarget).value)}
    >
      ${options.map(([one, text]) => html`<option key=${one} value=${one} selected=${one === value}>${text}</option>`)}
    </select>
    <p id=${`${id}-help`} class="quiet help">${help}</p>
    <${Problem} id=${`${id}-problem`} problem=${problem} />
  </div>`;
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
 * @param {{ label: ComponentChildren, checked: boolean, onToggle: () => void, help?: string }} props
 */
export function Tick({ label, checked, onToggle, help }) {
  return html`<label class="tick"
    ><input type="checkbox" checked=${checked} onChange=${onToggle} />
    <span>${label}${help && html` <span class="quiet">${help}</span>`}</span></label
  >`;
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

const pauseMs = 350;

/**
 * The text of a field whose effect waits for a pause in typing.
 * @param {string} value the text that has had its effect; another one from outside replaces what is typed
 * @param {(text: string) => void} onPause
 * @returns {[typed: string, setTyped: (text: string) => void]}
 */
export function useTyped(value, onPause) {
  const [typed, setText] = useState(value);
  const timer = useRef(0);
  const effect = useRef(onPause);
  effect.current = onPause;
  useEffect(
    () => setText((text) => (text.trim().toLowerCase() === value.toLowerCase() ? text : value)),
    [value],
  );
  useEffect(() => () => clearTimeout(timer.current), []);
  return [
    typed,
    (text) => {
      setText(text);
      clearTimeout(timer.current);
      timer.current = window.setTimeout(() => effect.current(text), pauseMs);
    },
  ];
}
