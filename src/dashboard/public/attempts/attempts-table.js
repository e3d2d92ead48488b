import { duration } from '../parts/format.js';
import { html } from '../parts/html.js';
import { Badge, FilingLink, Text, When } from '../parts/parts.js';
import { Table } from '../parts/table.js';
import { href } from '../router.js';
import { outcomeName, outcomeTone } from './outcomes.js';

/** @import { ComponentChildren } from 'preact' */
/** @import { Attempt } from '../../api-types.ts' */

/**
 * Attempts, newest first; each leads to its page. A response that is the same as in the row above is not
 * repeated.
 * @param {{ account: string, attempts: Attempt[], empty: ComponentChildren, more: boolean, onMore: () =>
 * void, present?: string }} props `present`: the id of the attempt whose page this is
 */
export function AttemptsTable({ account, attempts, empty, more, onMore, present }) {
  const rows = attempts.map((attempt, place) => {
    const isPresent = attempt.id === present;
    const link = html`<${AttemptLink} account=${account} attempt=${attempt} isPresent=${isPresent} />`;
    const response = html`<${Response} attempt=${attempt} above=${attempts[place - 1]} />`;
    const filing =
      attempt.filingId === null
        ? html`<${Text} value=${null} />`
        : html`<${FilingLink} account=${account} filingId=${attempt.filingId} />`;
    const outcome = html`<${Badge}
      word=${outcomeName(attempt.outcome)}
      tone=${outcomeTone(attempt.outcome)}
    />`;
    const event = html`<${Badge} word=${attempt.eventType} />`;
    const status = html`<${Text} value=${attempt.statusCode} />`;
    const took = duration(attempt.durationMs);
    return {
      key: attempt.id,
      cells: [link, event, filing, attempt.attempt, outcome, status, took, response],
      card: html`<div class="card-line"><span>${outcome} ${attempt.statusCode}</span> ${link}</div>
        <div>${event} ${filing} <span class="card-quiet">attempt ${attempt.attempt}, ${took}</span></div>
        ${said(attempt) && !isAsAbove(attempt, attempts[place - 1]) && response}`,
    };
  });
  return html`<${Table}
    caption="Attempts, newest first"
    columns=${['When', 'Event', 'Filing', 'Attempt', 'Outcome', 'Status', 'Took', 'Response']}
    numbers=${['Attempt', 'Status', 'Took']}
    rows=${rows}
    empty=${empty}
    more=${more}
    onMore=${onMore}
  />`;
}

/** @param {{ account: string, attempt: Attempt, isPresent: boolean }} props */
function AttemptLink({ account, attempt: { id, attempt, eventType, at }, isPresent }) {
  if (isPresent) return html`<span><${When} at=${at} /> <span class="quiet">this one</span></span>`;
  return html`<a href=${href('accounts', account, 'attempts', id)}
    ><${When} at=${at} /><span class="hidden">, attempt ${attempt} of ${eventType}</span></a
  >`;
}

/** @param {{ attempt: Attempt, above: Attempt | undefined }} props */
function Response({ attempt, above }) {
  if (isAsAbove(attempt, above)) return html`<span class="quiet">as above</span>`;
  return html`<span class="clamp answer"><${Text} value=${said(attempt)} /></span>`;
}

/** @type {(attempt: Attempt, above: Attempt | undefined) => boolean} */
function isAsAbove(attempt, above) {
  const text = said(attempt);
  return !!text && !!above && said(above) === text && above.statusCode === attempt.statusCode;
}

// The response of the endpoint, or why it could not be asked.
/** @type {(attempt: Attempt) => string | null} */
const said = ({ response, reason }) => response ?? reason;
