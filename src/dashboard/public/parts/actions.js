import { useEffect, useRef, useState } from '../vendor/hooks.js';
import { ApiError } from '../data/api-client.js';
import { html } from '../html.js';
import { Failure } from './parts.js';

/** @import { ComponentChildren } from 'preact' */

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
      const known = error instanceof ApiError ? error : new ApiError(0, 'unexpected', String(error));
      setState({ busy: false, error: known });
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
 * A button whose work begins in a dialog: with the fields of a form, or after it has said what the work
 * means. The browser keeps the focus in the dialog and gives it back to the button.
 * @param {{ label: string, title: string, verb: string, what: string, work: (form: FormData) =>
 * Promise<Result>, kind?: string, name?: string, refusal?: string, typed?: string, onInput?: (form: FormData)
 * => void, onClose?: () => void, children?: ComponentChildren }} props `what` completes "Could not …"; `name`:
 * of the button for screen readers; `typed` has to be typed before the work begins
 */
export function DialogButton({ label, title, verb, what, work, kind = '', name, refusal, typed, ...props }) {
  const action = useAction();
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const [isOpen, setOpen] = useState(false);
  const [shown, setShown] = useState(/** @type {ComponentChildren} */ (null));
  useEffect(() => {
    if (isOpen) dialog.current?.showModal();
    else dialog.current?.close();
  }, [isOpen]);
  const close = () => {
    setOpen(false);
    setShown(null);
    props.onClose?.();
  };
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const form = formOf(event);
    action.run(async () => {
      const result = await work(form);
      if (typeof result === 'object') setShown(result.shown);
      else if (result !== 'stay') close();
    });
  };
  const open = () => setOpen(true);
  return html`<button type="button" class=${kind} aria-label=${name} onClick=${open}>${label}</button>
    <dialog ref=${dialog} aria-label=${title} onClose=${close}>
      ${
        isOpen &&
        html`<h2><bdi class="text">${title}</bdi></h2>
          ${shown}`
      }
      ${
        isOpen &&
        shown !== null &&
        html`<div class="buttons"><button type="button" onClick=${close}>Close</button></div>`
      }
      ${
        isOpen &&
        shown === null &&
        html`<form
          onSubmit=${submit}
          onInput=${(/** @type {Event} */ event) => props.onInput?.(formOf(event))}
        >
          ${props.children}
          ${
            typed !== undefined &&
            html`<label
              ><span>Type <bdi class="text code">${typed}</bdi> to confirm</span>
              <input name="typed" required pattern=${literal(typed)} autocomplete="off" spellcheck="false"
            /></label>`
          }
          <${Failure} error=${action.error} what=${what} />
          <div class="buttons">
            <button
              type="submit"
              class=${kind === 'danger' ? 'danger' : 'primary'}
              aria-disabled=${action.busy}
            >
              ${verb}
            </button>
            <button type="button" onClick=${close}>${refusal ?? 'Cancel'}</button>
          </div>
        </form>`
      }
    </dialog>`;
}

/** @type {(event: Event) => FormData} */
const formOf = ({ currentTarget }) => new FormData(/** @type {HTMLFormElement} */ (currentTarget));

// The pattern attribute is compiled with the flag v, in which only these may be escaped.
/** @type {(text: string) => string} */
const literal = (text) => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, (sign) => `\\${sign}`);
