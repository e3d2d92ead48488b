import { apiPath } from '../data/api-client.js';
import { deliveryStats } from '../data/figures/delivery-stats.js';
import { duration } from './format.js';
import { html } from './html.js';
import { Badge, Failure, FilingLink, Loading, Text, When } from './parts.js';
import { Sparkline } from './sparkline.js';
import { Table } from './table.js';
import { AttemptFilters, useAttemptFilters } from '../attempts/attempt-filters.js';
import { AttemptsTable } from '../attempts/attempts-table.js';
import { outcomeName } from '../attempts/outcomes.js';
import { useList } from '../data/use-resource.js';
import { href, withQuery } from '../router.js';

/** @import { Attempt, DeadLetter } from '../../api-types.ts' */
/** @import { List } from '../data/use-resource.js' */

const refreshMs = 5000;
// The daemon looks through all attempts for those that match.
const filteredMs = 15_000;

/**
 * The delivered share of the attempts, and their speed.
 * @param {{ attempts: Attempt[] }} props
 */
export function Stats({ attempts }) {
  const { attempts: all, delivered, medianMs } = deliveryStats(attempts);
  if (all === 0) return html`<span class="none">no attempts</span>`;
  // Rounded down, so that 100 % means every one.
  const rate = `${Math.floor((delivered / all) * 100)} % of ${all}`;
  return html`<${Sparkline} attempts=${attempts} />
    <span>${medianMs === null ? rate : `${rate}, median ${duration(medianMs)}`}</span>`;
}

/**
 * The attempts of a subscription and their responses, newest first, with filters.
 * @param {{ account: string, id: string }} props
 */
export function Attempts({ account, id }) {
  const filters = useAttemptFilters();
  const isFiltered = Object.keys(filters).length > 0;
  const path = apiPath('accounts', account, 'subscriptions', id, 'attempts');
  const query = isFiltered ? `?${new URLSearchParams(filters)}` : '';
  /** @type {List<Attempt>} */
  const { data, error, showMore } = useList(path + query, isFiltered ? filteredMs : refreshMs);
  return html`<${AttemptFilters} />
    <${Failure} error=${error} what="read the attempts" />
    ${data === null && error === null && html`<${Loading} what="the attempts" />`}
    ${
      data !== null &&
      html`<${AttemptsTable}
        account=${account}
        attempts=${data.items}
        empty=${isFiltered ? 'No attempt that is still kept matches.' : 'Nothing was sent yet.'}
        more=${data.more}
        onMore=${showMore}
      />`
    }`;
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
      letter.filingId === null
        ? html`<${Text} value=${null} />`
        : html`<${FilingLink} account=${account} filingId=${letter.filingId} />`,
      attemptsOf(account, id, letter),
      html`<${Badge} word=${outcomeName(letter.lastOutcome)} tone="bad" />`,
    ],
  }));
  return html`<${Failure} error=${error} what="read the dead letters again" />
    <${Table}
      caption="Dead letters, newest first"
      columns=${['Given up', 'Event', 'Filing', 'Attempts', 'Last outcome']}
      numbers=${['Attempts']}
      rows=${rows}
      empty="Nothing was given up."
      more=${data.more}
      onMore=${showMore}
    />`;
}

/** @type {(account: string, id: string, letter: DeadLetter) => unknown} */
function attemptsOf(account, id, { eventId, attempts }) {
  if (eventId === '' || attempts === 0) return attempts;
  const to = withQuery(href('accounts', account, 'subscriptions', id), { eventId });
  return html`<a href=${to} aria-label=${`${attempts} attempts of this event`}>${attempts}</a>`;
}
