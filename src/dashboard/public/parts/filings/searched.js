import { html } from '../html.js';
import { Text } from '../parts.js';

/**
 * Whether the partner service was asked too, in words.
 * @typedef {{ service: 'asked' | 'not_needed' | 'unavailable', detail: string | null }} SearchedState
 */

/**
 * What a search looked through, where that needs to be said.
 * @param {{ searched: SearchedState | null }} props
 */
export function Searched({ searched }) {
  if (searched === null || searched.detail === null) return null;
  return html`<p class=${searched.service === 'unavailable' ? 'notice warn' : 'quiet'} role="status">
    <${Text} value=${searched.detail} />
  </p>`;
}
