import { html } from '../../parts/html.js';
import { Heading } from '../../parts/parts.js';

/** For the operator. */
export function NewAccountPage(/** @type {any} */ _props) {
  return html`<${Heading} title="New account" />`;
}
