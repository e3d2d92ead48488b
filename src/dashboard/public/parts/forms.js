import { createContext, html, useContext, useEffect, useId, useRef, useState } from '../html.js';
import { asApiError } from '../data/api.js';
import { Failure, Text } from './parts.js';

/** @import { ComponentChildren } from 'preact' */
/** @import { ApiError } from '../data/api.js' */

/**
 * The action of a button, one at a time.
 * @typedef {object} Action
 * @property {boolean} busy
 * @property {ApiError | null} error why the last one failed
 * @property {(work: () => Promise<void>) => void} run does nothing while one is under way
 */

/** @returns {Action} */
export function useAction() {
  const [state, setState] = useState({ busy: false, error: /** @type {ApiError | null} */ (null) });
  /** @type {(work: () => Promise<void>) => Promise<void>} */
  const perform = async (work) => {
    setState({ busy: true, error: null });
    try {
      await work();
      setState({ busy: false, error: null });
    } catch (error) {
      setState({ busy: false, error: asApiError(error) });
    }
  };
  return { ...state, run: (work) => void (state.busy ? undefined : perform(work)) };
}

/**
 * A button that keeps the focus while its work is in progress.
 * @param {{ action: Action, work: () => Promise<void>, kind?: string, name?: string, children?:
 * ComponentChildren }} props `name`: for screen readers
 */
export function ActionButton({ action, work, kind = '', name, children }) {
  return html`<button
    type="button"
    class=${kind}
    aria-label=${name}
    aria-disabled=${action.busy}
    onClick=${() => action.run(work)}
  >
    ${children}
  </button>`;
}

/**
 * A button of an action of its own, and why it failed.
 * @param {{ work: () => Promise<void>, what: string, kind?: string, name?: string, children?:
 * ComponentChildren }} props `what` completes "Could not …"
 */
export function WorkButton({ what, ...button }) {
  const action = useAction();
  return html`<${ActionButton} action=${action} ...${button} />
    <${Failure} error=${action.error} what=${what} />`;
}

/**
 * The end of a dialog's work: it closes, stays open for more of it, or shows this in place of the form.
 * @typedef {void | 'stay' | { shown: ComponentChildren }} Result
 */

/**
 * The dialog of a button: with the fields of a form, or with what the work means.
 * @typedef {object} DialogProps
 * @property {string} label of the button that opens it; without "…" it is the default of the next three
 * @property {string} [title]
 * @property {string} [verb] begins the work
 * @property {string} [what] completes "Could not …"
 * @property {(form: FormData) => Promise<Result>} work
 * @property {string} [kind]
 * @property {string} [refusal] of the button that closes it
 * @property {string} [typed] has to be typed before the work begins
 * @property {(form: FormData) => void} [onInput]
 * @property {() => void} [onClose]
 * @property {ComponentChildren} [children]
 */

/**
 * A button whose work begins in a dialog. The browser keeps the focus in the dialog and gives it back to the
 * button.
 * @param {DialogProps & { name?: string, isOpenAtFirst?: boolean }} props `name`: for screen readers
 */
export function DialogButton({ name, isOpenAtFirst = false, ...dialog }) {
  const [isOpen, setOpen] = useState(isOpenAtFirst);
  const close = () => {
    setOpen(false);
    dialog.onClose?.();
  };
  const open = () => setOpen(true);
  const { kind, label } = dialog;
  return html`<button type="button" class=${kind} aria-label=${name} onClick=${open}>${label}</button>
    ${isOpen && html`<${Dialog} ...${dialog} onClose=${close} />`}`;
}

/** @param {DialogProps} props */
function Dialog({ label, work, kind, refusal = 'Cancel', typed, onInput, onClose, children, ...words }) {
  const stem = label.replace(' …', '');
  const { title = stem, verb = stem, what = stem.charAt(0).toLowerCase() + stem.slice(1) } = words;
  const action = useAction();
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const [shown, setShown] = useState(/** @type {ComponentChildren} */ (null));
  useEffect(() => dialog.current?.showModal(), []);
  const close = () => dialog.current?.close();
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const form = formOf(event);
    action.run(async () => {
      const result = await work(form);
      if (typeof result === 'object') setShown(result.shown);
      else if (result !== 'stay') close();
    });
  };
  const form = html`<form
    onSubmit=${submit}
    onInput=${(/** @type {Event} */ event) => onInput?.(formOf(event))}
  >
    ${children}
    ${
      typed !== undefined &&
      html`<label
        ><span>Type <bdi class="text code">${typed}</bdi> to confirm</span>
        <input name="typed" required pattern=${literal(typed)} autocomplete="off" spellcheck="false"
      /></label>`
    }
    <${Failure} error=${action.error} what=${what} />
    <div class="buttons">
      <button type="submit" class=${kind === 'danger' ? 'danger' : 'primary'} aria-disabled=${action.busy}>
        ${verb}
      </button>
      <button type="button" onClick=${close}>${refusal}</button>
    </div>
  </form>`;
  return html`<dialog ref=${dialog} aria-label=${title} onClose=${onClose}>
    <h2><bdi class="text">${title}</bdi></h2>
    ${shown ?? form}
    ${shown && html`<div class="buttons"><button type="button" onClick=${close}>Close</button></div>`}
  </dialog>`;
}

/** @type {(event: Event) => FormData} */
const formOf = ({ currentTarget }) => new FormData(/** @type {HTMLFormElement} */ (currentTarget));

// The pattern attribute is compiled with the flag v, in which only these may be escaped.
/** @type {(text: string) => string} */
const literal = (text) => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, (sign) => `\\${sign}`);

/**
 * The values of a form by their names in the request, a function that sets some of them, and the error of the
 * last request.
 * @template [Values=any]
 * @typedef {{ values: Values, set: (part: Partial<Values>) => void, error: ApiError | null }} Form
 */

const FormContext = createContext(/** @type {Form} */ (/** @type {unknown} */ (null)));

/** The form of the fields. @returns {Form} */
export const useForm = () => useContext(FormContext);

/**
 * A form of a whole page with its buttons. A refusal stands beside the fields that it names, and the first of
 * them has the focus; what no field shows stands below.
 * @template Values
 * @param {{ values: Values, onChange: (values: Values) => void, save: () => Promise<void>, verb: string,
 * what: string, cancel: string, more?: (action: Action) => ComponentChildren, children?: ComponentChildren }}
 * props `what` completes "Could not …"; `cancel`: address; `more`: further buttons
 */
export function PageForm({ values, onChange, save, verb, what, cancel, more, children }) {
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
  const set = (/** @type {Partial<Values>} */ part) => onChange({ ...values, ...part });
  const faults = error?.errors ?? [];
  const fields = form.current?.elements;
  const areBeside =
    faults.length > 0 && faults.every(({ path }) => fields?.namedItem(path.split('.')[0] ?? ''));
  return html`<form class="form" ref=${form} onSubmit=${submit}>
    <${FormContext.Provider} value=${{ values, set, error }}>${children}<//>
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
 * A field of a form with its label, a line of help and what is wrong with it: one line of text, or one choice
 * of a few.
 * @param {{ name: string, label: string, help?: ComponentChildren, beside?: ComponentChildren, options?:
 * readonly (readonly [value: string, label: string])[], wrong?: ApiError | null }} props `name`: in the
 * request; `wrong`: an error besides that of the form; others are attributes of the input
 */
export function Field({ name, label, help, beside, options, wrong = null, ...attributes }) {
  const { values, set, error } = useForm();
  const id = useId();
  const problem = problemOf(wrong ?? error, name);
  return html`<div class="field">
    <label for=${id}>${label}</label>
    <${options ? 'select' : 'input'}
      id=${id}
      name=${name}
      value=${values[name]}
      aria-invalid=${problem !== null}
      aria-describedby=${`${id}-help ${id}-problem`}
      autocomplete="off"
      spellcheck=${false}
      onInput=${(/** @type {Event} */ event) => set({ [name]: valueOf(event) })}
      ...${attributes}
      >${options && html`<${Options} options=${options} value=${values[name]} />`}<//
    >
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
 * Several inputs of a form that are one value of the request, and what is wrong with it.
 * @param {{ name: string, legend: string, help?: ComponentChildren, children?: ComponentChildren }} props
 */
export function Group({ name, legend, help, children }) {
  const id = useId();
  const problem = problemOf(useForm().error, name);
  return html`<fieldset
    class="group"
    name=${name}
    tabindex="-1"
    data-invalid=${problem === null ? undefined : 'true'}
    aria-describedby=${id}
  >
    <legend>${legend}</legend>
    ${help && html`<p class="quiet help">${help}</p>`} ${children}
    <${Problem} id=${id} problem=${problem} />
  </fieldset>`;
}

// What is wrong with a field, or with a part of it such as `headers.Content-Type`; null if nothing is.
/** @type {(error: ApiError | null, name: string) => string | null} */
function problemOf(error, name) {
  const found = error?.errors.filter(({ path }) => path === name || path.startsWith(`${name}.`)) ?? [];
  if (found.length === 0) return null;
  return found
    .map(({ path, message }) =>
      `${path.slice(name.length + 1).replace(/^\d+$/, '')} ${message.replace(/^is refused: /, '')}`.trim(),
    )
    .join('; ');
}

/** @param {{ id: string, problem: string | null }} props */
function Problem({ id, problem }) {
  return html`<p id=${id} class="problem">${problem !== null && html`<${Text} value=${problem} />`}</p>`;
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

/**
 * One choice of a few in a dialog; the form has it under this name.
 * @param {{ name: string, legend: string, value: string, options: readonly (readonly [value: string, label:
 * ComponentChildren])[], children?: ComponentChildren }} props `value`: at first; children stand above
 */
export function Choice({ name, legend, value, options, children }) {
  return html`<fieldset>
    <legend>${legend}</legend>
    ${children}
    ${options.map(
      ([one, label]) =>
        html`<label key=${one}
          ><input type="radio" name=${name} value=${one} defaultChecked=${one === value} /> ${label}</label
        >`,
    )}
  </fieldset>`;
}

/**
 * A list of options in a dialog; the form has the chosen one under this name.
 * @param {{ name: string, label: string, value: number, options: readonly (readonly [value: number, label:
 * string])[] }} props `value`: at first
 */
export function Select({ name, label, ...options }) {
  return html`<label
    >${label}
    <select name=${name}>
      <${Options} ...${options} /></select
  ></label>`;
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
