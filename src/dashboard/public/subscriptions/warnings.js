import { html } from '../parts/html.js';
import { Notice, Text } from '../parts/parts.js';

/**
 * Settings that were accepted although they are likely mistakes; nothing if there are none.
 * @param {{ warnings: readonly string[] | undefined }} props
 */
export function Warnings({ warnings = [] }) {
  if (warnings.length === 0) return null;
  return html`<${Notice} tone="warn">
    ${warnings.map((warning) => html`<p key=${warning}><${Text} value=${warning} /></p>`)}
  <//>`;
}
