import { html, useState } from '../html.js';

/** @import { ComponentChildren } from 'preact' */

/**
 * Copies a text, and says so. Browsers have no clipboard on pages without TLS, except on the local host.
 * @param {{ text: string, what: string, kind?: string }} props `what` names the text for those who do not see
 * the page
 */
export function CopyButton({ text, what, kind = 'small' }) {
  const [said, setSaid] = useState('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setSaid('Copied');
    } catch {
      setSaid('The browser does not allow it: select the text, and copy it with the keyboard');
    }
  };
  return html`<button type="button" class=${kind} aria-label=${`Copy ${what}`} onClick=${copy}>Copy</button>
    <span class="quiet" role="status">${said}</span>`;
}

/**
 * A text that is shown only now, to be copied: a secret, a token, a link.
 * @param {{ label: string, value: string }} props
 */
export function SecretField({ label, value }) {
  const select = (/** @type {Event} */ event) =>
    /** @type {HTMLInputElement} */ (event.currentTarget).select();
  return html`<div class="copied">
    <label>${label} <input class="secret" readonly value=${value} onFocus=${select} /></label>
    <${CopyButton} text=${value} what="it" kind="primary" />
  </div>`;
}

/**
 * A secret, a token or a link that is shown only now, and what to do with it.
 * @param {{ what: string, label: string, value: string, children?: ComponentChildren }} props `what`
 * completes "This … is shown only now"
 */
export function ShownOnce({ what, label, value, children }) {
  return html`<p role="status"><strong>This ${what} is shown only now.</strong> ${children}</p>
    <${SecretField} label=${label} value=${value} />`;
}
