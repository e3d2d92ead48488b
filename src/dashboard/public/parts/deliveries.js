import { apiPath } from '../data/api-client.js';
import { deliveryStats } from '../data/delivery-stats.js';
import { duration } from './format.js';
import { html } from './html.js';
import { Badge, Failure, FilingLink, Loading, Text, When } from './parts.js';
import { Table } from './table.js';
import { useList } from '../data/use-resource.js';

/** @import { Attempt, DeadLetter } from '../data/api-types.d.ts' */
/** @import { List } from '../data/use-resource.js' */

const refreshMs = 5000;

/**
 * The acknowledged share of the attempts, and their speed.
 * @param {{ attempts: Attempt[] }} props
 */
export function Stats({ attempts }) {
  const { attempts: all, delivered, medianMs } = deliveryStats(attempts);
  if (all === 0) return html`<span class="none">no attempts</span>`;
  // Rounded down, so that 100 % means every one.
  const rate = `${Math.floor((delivered / all) * 100)} % of ${all}`;
  return html`<span>${medianMs === null ? rate : `${rate}, median ${duration(medianMs)}`}</span>`;
}

/**
 * @param {string} outcome
 * @returns {import('./parts.js').Tone}
 */
function toneOf(outcome) {
  if (outcome === 'delivered') return 'good';
  return outcome === 'aborted' ? 'plain' : 'bad';
}

/**
 * The attempts of a subscription and their responses, newest first.
 * @param {{ account: string, id: string }} props
 */
export function Attempts({ account, id }) {
  const path = apiPath('accounts', account, 'subscriptions', id, 'attempts');
  /** @type {List<Attempt>} */
  const { data, error, showMore } = useList(path, refreshMs);
  if (data === null)
    return error === null
      ? html`<${Loading} what="the attempts" />`
      : html`<${Failure} error=${error} what="read the attempts" />`;
  const rows = data.items.map((attempt) => ({
    key: `${attempt.eventId} ${attempt.attempt} ${attempt.at}`,
    cells: [
      html`<${When} at=${attempt.at} />`,
      html`<${Badge} word=${attempt.eventType} />`,
      html`<${Subject} account=${account} filingId=${attempt.filingId} />`,
      attempt.attempt,
      html`<${Badge} word=${attempt.outcome} tone=${toneOf(attempt.outcome)} />`,
      html`<${Text} value=${attempt.statusCode} />`,
      duration(attempt.durationMs),
      html`<span class="clamp answer"><${Text} value=${attempt.response} /></span>`,
    ],
  }));
  return html`<${Failure} error=${error} what="read the attempts again" />
    ${rows.length > 0 && html`<p>Acknowledged of those below: <${Stats} attempts=${data.items} />.</p>`}
    <${Table}
      caption="Attempts, newest first"
      columns=${['When', 'Event', 'Filing', 'Try', 'Outcome', 'Status', 'Took', 'Answer']}
      rows=${rows}
      empty="Nothing was sent yet. A test sends a ping now."
      more=${data.more}
      onMore=${showMore}
    />`;
}

/**
 * The dead letters of a subscription, newest first.
 * @param {{ account: string, id: string }} props
 */
export function DeadLetters({ account, id }) {
  const path = apiPath('accounts', account, 'subscriptions', id, 'dead-letters');
  /** @type {List<DeadLetter>} */
  const { data, error, showMore } = useList(path, refreshMs);
  if (data === null)
    return error === null
      ? html`<${Loading} what="the dead letters" />`
      : html`<${Failure} error=${error} what="read the dead letters" />`;
  const rows = data.items.map((letter) => ({
    key: `${letter.at} ${letter.eventId}`,
    cells: [
      html`<${When} at=${letter.at} />`,
      letter.eventType === ''
        ? html`<${Text} value=${`${letter.events} that left the log`} />`
        : html`<${Badge} word=${letter.eventType} />`,
      html`<${Subject} account=${account} filingId=${letter.filingId} />`,
      letter.attempts,
      html`<${Badge} word=${letter.lastOutcome} tone="bad" />`,
    ],
  }));
  return html`<${Failure} error=${error} what="read the dead letters again" />
    <${Table}
      caption="Dead letters, newest first"
      columns=${['Given up', 'Event', 'Filing', 'Tries', 'Last outcome']}
      rows=${rows}
      empty="Nothing was given up."
      more=${data.more}
      onMore=${showMore}
    />`;
}

/** @param {{ account: string, filingId: string | null }} props */
function Subject({ account, filingId }) {
  return filingId === null
    ? html`<${Text} value=${null} />`
    : html`<${FilingLink} account=${account} filingId=${filingId} />`;
}
