import { html } from '../html.js';
import { Text } from '../parts.js';

/**
 * Whether the partner service was asked too, in words.
 * @typedef {{ service: 'asked' | 'not_needed' | 'unavailable', detail: string | null }} SearchedState
 */

/**
 * The sentence about the places that a search looked through, where it is needed.
 * @param {{ searched: SearchedState | null }} props
 */
export function Searched({ searched }) {
  if (searched === null || searched.detail === null) return null;
  return html`<p class=${searched.service === 'unavailable' ? 'notice warn' : 'quiet'} role="status">
    <${Text} value=${searched.detail} />
  </p>`;
}
