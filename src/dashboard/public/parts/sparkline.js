import { html } from './html.js';

/** @import { Attempt } from '../../api-types.ts' */

const width = 4;
const height = 16;

/**
 * The latest attempts as bars, oldest first: full and green for a delivered one, half and red for a failed
 * one. The words beside it say the same.
 * @param {{ attempts: Attempt[] }} props newest first
 */
export function Sparkline({ attempts }) {
  const bars = attempts
    .filter(({ outcome }) => outcome !== 'aborted')
    .slice(0, 25)
    .toReversed();
  return html`<svg
    class="sparkline"
    aria-hidden="true"
    width=${bars.length * width}
    height=${height}
    viewBox=${`0 0 ${bars.length * width} ${height}`}
  >
    ${bars.map(({ outcome, id }, place) => {
      const good = outcome === 'delivered';
      return html`<rect
        key=${id}
        class=${good ? 'good' : 'bad'}
        x=${place * width}
        y=${good ? 0 : height / 2}
        width=${width - 1}
        height=${good ? height : height / 2}
      />`;
    })}
  </svg>`;
}
