import { duration } from '../parts/format.js';
import { html } from '../parts/html.js';
import { Badge, FilingLink, Text, When } from '../parts/parts.js';
import { Table } from '../parts/table.js';
import { href } from '../router.js';
import { outcomeName, outcomeTone } from './outcomes.js';

/** @import { ComponentChildren } from 'preact' */
/** @import { Attempt } from '../data/api-types.d.ts' */

/**
 * Attempts, newest first; each leads to its page. A response that is the same as in the row above is not
 * repeated.
 * @param {{ account: string, attempts: Attempt[], empty: ComponentChildren, more: boolean, onMore: () => void,
 * present?: string }} props `present`: the id of the attempt whose page this is
 */
export function AttemptsTable({ account, attempts, empty, more, onMore, present }) {
  const rows = attempts.map((attempt, place) => ({
    key: attempt.id,
    cells: [
      attempt.id === present
        ? html`<${When} at=${attempt.at} /> <span class="quiet">this one</span>`
        : html`<a
            href=${href('accounts', account, 'attempts', attempt.id)}
            aria-label=${`Attempt ${attempt.attempt} of ${attempt.eventType}, ${attempt.at}`}
            ><${When} at=${attempt.at}
          /></a>`,
      html`<${Badge} word=${attempt.eventType} />`,
      attempt.filingId === null
        ? html`<${Text} value=${null} />`
        : html`<${FilingLink} account=${account} filingId=${attempt.filingId} />`,
      attempt.attempt,
      html`<${Badge} word=${outcomeName(attempt.outcome)} tone=${outcomeTone(attempt.outcome)} />`,
      html`<${Text} value=${attempt.statusCode} />`,
      duration(attempt.durationMs),
      html`<${Response} attempt=${attempt} above=${attempts[place - 1]} />`,
    ],
  }));
  return html`<${Table}
    caption="Attempts, newest first"
    columns=${['When', 'Event', 'Filing', 'Attempt', 'Outcome', 'Status', 'Took', 'Response']}
    rows=${rows}
    empty=${empty}
    more=${more}
    onMore=${onMore}
  />`;
}

/** @param {{ attempt: Attempt, above: Attempt | undefined }} props */
function Response({ attempt: { response, statusCode }, above }) {
  if (response !== null && response !== '' && above?.response === response && above.statusCode === statusCode)
    return html`<span class="quiet">as above</span>`;
  return html`<span class="clamp answer"><${Text} value=${response} /></span>`;
}
