import { html } from '../../parts/html.js';
import { Heading } from '../../parts/parts.js';

export function EditSubscriptionPage(/** @type {any} */ _props) {
  return html`<${Heading} title="Edit the subscription" />`;
}
