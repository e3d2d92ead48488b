import { html } from '../parts/html.js';
import { Badge } from '../parts/parts.js';

/** @import { Tone } from '../parts/parts.js' */

/** @type {Readonly<Record<string, Tone>>} */
const tones = { active: 'good', degraded: 'warn', failing: 'bad', disabled: 'plain' };

/**
 * The state of a subscription as `shownState` has it.
 * @param {{ state: string }} props
 */
export function StateBadge({ state }) {
  return html`<${Badge} word=${state} tone=${tones[state] ?? 'plain'} />`;
}
