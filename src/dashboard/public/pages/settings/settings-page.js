import { html } from '../../parts/html.js';
import { Heading } from '../../parts/parts.js';

export function SettingsPage(/** @type {any} */ _props) {
  return html`<${Heading} title="Settings" />`;
}
