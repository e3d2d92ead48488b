import { html } from '../parts/html.js';
import { Notice, Text } from '../parts/parts.js';

/**
 * What was taken although it is likely a mistake; nothing if there is none.
 * @param {{ warnings: readonly string[] | undefined }} props
 */
export function Warnings({ warnings = [] }) {
  if (warnings.length === 0) return null;
  return html`<${Notice} tone="warn">
    ${warnings.map((warning) => html`<p key=${warning}><${Text} value=${warning} /></p>`)}
  <//>`;
}
