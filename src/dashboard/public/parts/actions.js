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
 * @param {{ action: Action, work: () => Promise<void>, kind?: 'primary' | 'danger' | '', children?:
 * ComponentChildren }} props
 */
export function ActionButton({ action, work, kind = '', children }) {
  return html`<button
    type="button"
    class=${kind}
    aria-disabled=${action.busy}
    onClick=${() => action.run(work)}
  >
    ${children}
  </button>`;
}

/**
 * A dialog over the page. The browser keeps the focus inside and gives it back to the button that opened it.
 * @param {{ title: string, open: boolean, onClose: () => void, children?: ComponentChildren }} props
 */
export function Dialog({ title, open, onClose, children }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  return html`<dialog ref=${dialog} aria-label=${title} onClose=${onClose}>
    ${
      open &&
      html`<h2><bdi class="text">${title}</bdi></h2>
        ${children}`
    }
  </dialog>`;
}

/**
 * A form in a dialog: its fields, why it failed, and its two buttons.
 * @param {{ action: Action, work: (form: FormData) => Promise<void>, verb: string, what: string, kind?:
 * 'primary' | 'danger', refusal?: string, onCancel: () => void, children?: ComponentChildren }} props
 */
export function DialogForm({
  action,
  work,
  verb,
  what,
  kind = 'primary',
  refusal = 'Cancel',
  onCancel,
  children,
}) {
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    action.run(() => work(form));
  };
  return html`<form onSubmit=${submit}>
    ${children}
    <${Failure} error=${action.error} what=${what} />
    <div class="buttons">
      <button type="submit" class=${kind} aria-disabled=${action.busy}>${verb}</button>
      <button type="button" onClick=${onCancel}>${refusal}</button>
    </div>
  </form>`;
}

/**
 * A button whose work begins after a dialog has said what it means.
 * @param {{ label: string, title: string, verb: string, what: string, work: (form: FormData) =>
 * Promise<void>, kind?: 'primary' | 'danger' | '', refusal?: string, typed?: string, children?:
 * ComponentChildren }} props `what` completes "Could not …"; `typed` has to be typed before the work begins
 */
export function ConfirmButton({
  label,
  title,
  verb,
  what,
  work,
  kind = '',
  refusal = 'Cancel',
  typed,
  children,
}) {
  const action = useAction();
  const [open, setOpen] = useState(false);
  const close = () => setOpen(false);
  const confirmed = async (/** @type {FormData} */ form) => {
    await work(form);
    close();
  };
  return html`<button type="button" class=${kind} onClick=${() => setOpen(true)}>${label}</button>
    <${Dialog} title=${title} open=${open} onClose=${close}>
      <${DialogForm}
        action=${action}
        work=${confirmed}
        verb=${verb}
        what=${what}
        kind=${kind === 'danger' ? 'danger' : 'primary'}
        refusal=${refusal}
        onCancel=${close}
      >
        ${children}
        ${
          typed !== undefined &&
          html`<label
            ><span>Type <bdi class="text code">${typed}</bdi> to confirm</span>
            <input name="typed" required pattern=${literal(typed)} autocomplete="off" spellcheck="false"
          /></label>`
        }
      <//>
    <//>`;
}

// The pattern attribute is compiled with the flag v, in which only these may be escaped.
/** @type {(text: string) => string} */
const literal = (text) => text.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, (sign) => `\\${sign}`);
