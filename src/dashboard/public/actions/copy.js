import { useRef, useState } from '../vendor/hooks.js';
import { html } from '../parts/html.js';

/**
 * Copies a text, and says so.
 * @param {{ text: string, what: string }} props `what` names the text for those who do not see the page
 */
export function CopyButton({ text, what }) {
  const [said, setSaid] = useState('');
  const copy = async () => setSaid((await isCopied(text)) ? 'Copied' : 'The browser does not allow it');
  return html`<button type="button" class="small" aria-label=${`Copy ${what}`} onClick=${copy}>Copy</button>
    <span class="quiet" role="status">${said}</span>`;
}

/**
 * A text that is shown only now, to be copied: a secret, a token, a link.
 * @param {{ label: string, value: string }} props
 */
export function SecretField({ label, value }) {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [said, setSaid] = useState('');
  const copy = async () => {
    field.current?.select();
    setSaid(
      (await isCopied(value))
        ? 'Copied.'
        : 'The browser does not allow it: the text is selected, copy it with the keyboard.',
    );
  };
  return html`<div class="copied">
    <label>${label} <input ref=${field} class="secret" readonly value=${value} /></label>
    <button type="button" class="primary" onClick=${copy}>Copy</button>
    <span role="status">${said}</span>
  </div>`;
}

// Browsers have no clipboard on pages without TLS, except on the local host.
/** @type {(text: string) => Promise<boolean>} */
async function isCopied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
