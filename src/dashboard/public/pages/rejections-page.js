import { useState } from '../vendor/hooks.js';
import { html } from '../html.js';
import { download } from '../data/api-client.js';
import { useFaults } from '../data/daemon.js';
import { useClient, useList } from '../data/use-resource.js';
import { ActionButton, useAction } from '../parts/actions.js';
import { rowOf } from '../parts/filings.js';
import { ChipFilter, ChoiceFilter } from '../parts/filters.js';
import { number } from '../parts/format.js';
import { At, Badge, Failure, Heading, Reading, Text, When } from '../parts/parts.js';
import { StillTable } from '../parts/table.js';
import { href, useQuery, withQuery } from '../router.js';
import { useIsOperator } from '../session.js';

/** @import { Rejection, RejectionPage } from '../../api-types.ts' */
/** @import { List } from '../data/use-resource.js' */

const refreshMs = 5000;
const filterNames = /** @type {const} */ (['account', 'state', 'reason', 'seen']);
const columns = ['Age', 'Insured', 'Policy', 'State', 'Premium', 'Reason'];
const troubledShown = 10;
const groupsShown = 6;

const orders = /** @type {const} */ ([
  [null, 'Oldest first'],
  ['newest', 'Newest first'],
]);
const seenChoices = /** @type {const} */ ([
  ['false', 'Not seen yet'],
  ['true', 'Seen'],
]);

/** Everything that is rejected in the accounts of the user, the oldest first. */
export function RejectionsPage() {
  const [query] = useQuery();
  const isOperator = useIsOperator();
  const filters = Object.fromEntries(filterNames.map((name) => [name, query.get(name)]));
  const path = withQuery('v1/rejections', { ...filters, order: query.get('order') ?? 'oldest' });
  /** @type {List<Rejection>} */
  const list = useList(`${path}&limit=50`, refreshMs);
  const account = query.get('account');
  const total = list.data?.first.total;
  return html`<${Heading}
      title="Rejections"
      crumbs=${account === null || !isOperator ? [] : [[account, href('accounts', account)]]}
      >${total !== undefined && html`<span class=${`total ${total > 0 ? 'bad' : 'plain'}`}>${number(total)}</span>`}
      <${Export} path=${path}
    /><//>
    <${Reading}
      of=${list}
      what="the rejections"
      show=${() => html`<${Board} list=${list} subject=${path} isOperator=${isOperator} />`}
    />`;
}

/** @param {{ list: List<Rejection>, subject: string, isOperator: boolean }} props */
function Board({ list, subject, isOperator }) {
  const [query] = useQuery();
  if (list.data === null) return null;
  const { items, more } = list.data;
  /** @type {RejectionPage} */
  const page = list.data.first;
  const shown = [...columns, ...(isOperator && !query.has('account') ? ['Account'] : []), 'Seen by'];
  return html`<${BoardHealth} page=${page} />
    <div class="board">
      <div class="board-side">
        ${isOperator && html`<${AccountChoice} page=${page} />`}
        ${!page.groupsComplete && html`<p class="quiet">Counted among the first 5,000.</p>`}
        <${Facets}
          title="By reason"
          name="reason"
          items=${page.byReason.map(({ reason, count }) => ({ value: reason, count }))}
        />
        <${Facets}
          title="By state"
          name="state"
          items=${page.byState.map(({ state, count }) => ({ value: state, count }))}
        />
      </div>
      <section aria-label="Rejected filings">
        <div class="filters">
          <${ChipFilter} label="Order" name="order" options=${orders} />
          <${ChipFilter} label="Seen by somebody" name="seen" options=${seenChoices} isOptional />
          <${Chosen} />
        </div>
        <${StillTable}
          subject=${subject}
          rows=${items.map((one) => rowOf(shown, one.account, one, list.reload))}
          caption="Rejected filings"
          columns=${shown}
          numbers=${['Premium']}
          empty=${html`<${Nothing} page=${page} isFiltered=${filterNames.some((name) => query.has(name))} />`}
          more=${more}
          onMore=${list.showMore}
        />
      </section>
    </div>`;
}

/** @param {{ path: string }} props */
function Export({ path }) {
  const client = useClient();
  const action = useAction();
  const save = () => download(client, path, 'text/csv', 'rejections.csv');
  return html`<span class="at-end"
    ><${ActionButton} action=${action} work=${save}>Export CSV<//
    ><${Failure} error=${action.error} what="export"
  /></span>`;
}

// The accounts whose rejections are not known or old; nothing while all are current.
/** @param {{ page: RejectionPage }} props */
function BoardHealth({ page: { accounts, accountsTotal } }) {
  const troubled = accounts.filter(({ health }) => health !== 'ok');
  if (troubled.length === 0) return null;
  const who =
    troubled.length === 1
      ? 'One account is not current'
      : `${troubled.length} of ${accountsTotal} accounts are not current`;
  return html`<div class="notice warn" role="status">
    <p><strong>${who}:</strong> there may be rejections that are not shown.</p>
    <ul>
      ${troubled.slice(0, troubledShown).map(
        ({ account, health, asOf }) =>
          html`<li key=${account}>
            <a href=${href('accounts', account)}><${Text} value=${account} /></a>
            <${Badge} word=${health} />${' '}
            ${asOf === null ? health !== 'unknown' && 'not known yet' : html`as of <${At} at=${asOf} />, <${When} at=${asOf} />`}
          </li>`,
      )}
    </ul>
    ${troubled.length > troubledShown && html`<p>… and ${troubled.length - troubledShown} more.</p>`}
  </div>`;
}

/** @param {{ page: RejectionPage }} props */
function AccountChoice({ page: { accounts } }) {
  const [query] = useQuery();
  const chosen = query.get('account');
  const names = new Set([...accounts.map(({ account }) => account), ...(chosen === null ? [] : [chosen])]);
  if (names.size < 2 && chosen === null) return null;
  const options = [['', 'All accounts'], ...[...names].map((name) => [name, name])];
  return html`<${ChoiceFilter} label="Account" name="account" options=${options} />`;
}

// How many have each value, most first; a click shows these only, another one all again.
/** @param {{ title: string, name: string, items: { value: string | null, count: number }[] }} props */
function Facets({ title, name, items }) {
  const [query, setQuery] = useQuery();
  const [isLong, setLong] = useState(false);
  const chosen = query.get(name);
  const shown = isLong ? items : items.filter(({ value }, at) => at < groupsShown || value === chosen);
  return html`<section class="facets" aria-label=${title}>
    <h2>${title}</h2>
    <ul>
      ${shown.map(
        ({ value, count }) =>
          html`<li key=${value}>
            <button
              type="button"
              aria-pressed=${value !== null && value === chosen}
              aria-disabled=${value === null}
              onClick=${() => value !== null && setQuery({ [name]: value === chosen ? null : value })}
            >
              <strong>${number(count)}</strong>
              ${value === null ? html`<span class="none">none given</span>` : html`<${Text} value=${value} />`}
            </button>
          </li>`,
      )}
    </ul>
    ${
      items.length > shown.length &&
      html`<button type="button" class="link" onClick=${() => setLong(true)}>
        ${number(items.length - shown.length)} more
      </button>`
    }
  </section>`;
}

// The groups that are chosen, each to be taken away.
function Chosen() {
  const [query, setQuery] = useQuery();
  const chosen = ['reason', 'state'].filter((name) => query.has(name));
  return html`<div class="chips">
    ${chosen.map(
      (name) =>
        html`<button key=${name} type="button" onClick=${() => setQuery({ [name]: null })}>
          <span class="quiet">${name}:</span> <${Text} value=${query.get(name)} />
          <span aria-hidden="true">×</span><span class="hidden">, remove the filter</span>
        </button>`,
    )}
  </div>`;
}

// The all-clear needs an answer of just now and every account known.
/** @param {{ page: RejectionPage, isFiltered: boolean }} props */
function Nothing({ page, isFiltered }) {
  const faults = useFaults();
  if (isFiltered) return 'Nothing that is rejected matches these filters.';
  if (page.accounts.length === 0) return 'There is no account yet.';
  if (faults.length === 0 && page.accounts.every(({ health }) => health === 'ok'))
    return 'Nothing is rejected. Nobody has to do anything.';
  return 'No rejection is known. Not every account is current, so there may be some.';
}
