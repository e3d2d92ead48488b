import { html } from '../parts/html.js';
import { Heading } from '../parts/parts.js';

/** The rejection board. */
export function RejectionsPage(/** @type {any} */ _props) {
  return html`<${Heading} title="Rejections" />`;
}
