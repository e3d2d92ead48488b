import { useState } from '../vendor/hooks.js';
import { Dialog, DialogForm, useAction } from './actions.js';
import { html } from '../parts/html.js';

/** @import { ComponentChildren } from 'preact' */

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
