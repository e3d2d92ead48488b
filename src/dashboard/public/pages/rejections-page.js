import { html, useCallback, useState } from '../html.js';
import { download, useClient, useList } from '../data/api.js';
import { useFaults } from '../data/daemon.js';
import { toggled, WorkButton } from '../parts/forms.js';
import { AsOf } from '../parts/account-parts.js';
import { rowOf } from '../parts/filings.js';
import { ChipFilter, ChoiceFilter, ClearFilters } from '../parts/filters.js';
import { keptName, MarkMany, nameOf } from '../parts/triage.js';
import { number } from '../parts/format.js';
import { Uncovered } from '../parts/told.js';
import { Badge, Heading, SkipLink, Text, whenRead } from '../parts/parts.js';
import { StillTable } from '../parts/tables.js';
import { href, useQuery, withQuery } from '../router.js';
import { useIsOperator, useMayTriage } from '../session.js';

/** @import { Rejection, RejectionPage } from '../../api-types.ts' */
/** @import { List } from '../data/api.js' */

/** @typedef {RejectionPage['accounts'][number]} BoardAccount */

/**
 * The rejections with one reason or in one state.
 * @typedef {Partial<Record<'reason' | 'state', string | null>> & { count: number }} Group
 */

const refreshMs = 5000;
const filterNames = ['account', 'state', 'reason', 'seen', 'assignee', 'due', 'open', 'told'];
const columns = ['Age', 'Insured', 'Policy', 'State', 'Premium', 'Reason', 'Told'];
const troubledShown = 10;
const groupsShown = 6;
// The width up to which the board has one column (style.css).
const isAboveList = matchMedia('(max-width: 60rem)');

const orders = /** @type {const} */ ([
  [null, 'Oldest first'],
  ['newest', 'Newest first'],
  ['due', 'Due first'],
]);
const openChoices = /** @type {const} */ ([['false', 'Answered']]);
const seenChoices = /** @type {const} */ ([
  ['false', 'Not seen yet'],
  ['true', 'Seen'],
]);

const toldChoices = /** @type {const} */ ([['nobody', 'Told to nobody']]);
const dueChoices = /** @type {const} */ ([
  ['overdue', 'Overdue'],
  ['P7D', 'Due in 7 days'],
]);

/** Everything that is rejected in the accounts of the user, the oldest first. */
export function RejectionsPage() {
  const [query] = useQuery();
  const isOperator = useIsOperator();
  const filters = Object.fromEntries(filterNames.map((name) => [name, query.get(name)]));
  const path = withQuery('v1/rejections', { ...filters, order: query.get('order') ?? 'oldest' });
  /** @type {List<Rejection>} */
  const list = useList(`${path}&limit=50`, refreshMs);
  const client = useClient();
  const save = () => download(client, path, 'text/csv', 'rejections.csv');
  const account = query.get('account');
  const total = list.data?.first.total;
  return html`<${Heading}
      title="Rejections"
      crumbs=${account === null || !isOperator ? [] : [[account, href('accounts', account)]]}
      >${total !== undefined && html`<span class=${`total ${total > 0 ? 'bad' : 'plain'}`}>${number(total)}</span>`}
      <span class="at-end"><${WorkButton} work=${save} what="export">Export CSV<//></span><//
    >
    ${whenRead(list, 'the rejections', (data) => html`<${Board} list=${list} data=${data} subject=${path} isOperator=${isOperator} />`)}`;
}

/**
 * @param {{ list: List<Rejection>, data: NonNullable<List<Rejection>['data']>, subject: string, isOperator:
 * boolean }} props
 */
function Board({ list, data: { items, more, first }, subject, isOperator }) {
  const [query] = useQuery();
  /** @type {RejectionPage} */
  const page = first;
  const [chosen, setChosen] = useState(/** @type {readonly string[]} */ ([]));
  const mayTriage = useMayTriage();
  const last = query.get('open') === 'false' ? 'Answered by' : 'Seen by';
  // Without rules of the operator nothing is due.
  const hasDue = items.some(({ dueAt }) => dueAt !== null);
  const shown = [
    ...(hasDue ? ['Due'] : []),
    ...columns,
    ...(isOperator && !query.has('account') ? ['Account'] : []),
    last,
  ];
  // Of one account as of all, that nothing is rejected is an all-clear.
  const isFiltered = filterNames.some((name) => name !== 'account' && query.has(name));
  const picked = items.filter((one) => chosen.includes(keyOf(one)));
  const rows = items.map((one) => {
    const row = rowOf(shown, one.account, one, list.reload);
    if (!mayTriage) return row;
    const key = keyOf(one);
    const choose = () => setChosen(toggled(chosen, key));
    const box =
      one.seen === null &&
      html`<input
        type="checkbox"
        aria-label=${`Choose ${nameOf(one)}`}
        checked=${chosen.includes(key)}
        onChange=${choose}
      />`;
    const [cell, ...others] = row.cells;
    const beside = (/** @type {unknown} */ content) =>
      html`<div class="chosen">
        ${box}
        <div>${content}</div>
      </div>`;
    return { ...row, cells: [beside(cell), ...others], card: beside(row.card) };
  });
  const done = useCallback(() => {
    setChosen([]);
    list.reload();
  }, [list.reload]);
  const mine = keptName();
  const people = [...(mine === '' ? [] : [[mine, 'Mine']]), ['none', 'Unassigned']];
  return html`<${SkipLink} to="list">Skip to the list<//> <${BoardHealth} page=${page} /><${BoardCover}
      page=${page}
    />
    <div class="board">
      <div class="board-side">
        ${isOperator && html`<${AccountChoice} page=${page} />`}
        ${!page.groupsComplete && html`<p class="quiet">Counted among the first 5,000.</p>`}
        <${Facets} name="reason" items=${page.byReason} />
        <${Facets} name="state" items=${page.byState} />
      </div>
      <section aria-label="Rejected filings">
        <div class="filters">
          <${ChipFilter} label="Order" name="order" options=${orders} />
          <${ChipFilter} label="Seen by somebody" name="seen" options=${seenChoices} isOptional />
          <${ChipFilter} label="Due by the account's rules" name="due" options=${dueChoices} isOptional />
          <${ChipFilter} label="Answered by a later filing" name="open" options=${openChoices} isOptional />
          <${ChipFilter} label="Told to somebody" name="told" options=${toldChoices} isOptional />
          <${ChipFilter} label="Assigned to" name="assignee" options=${people} isOptional />
          <${ClearFilters} names=${['reason', 'state']} />
          <${MarkMany}
            rejections=${picked.length > 0 ? picked : items}
            isChosen=${picked.length > 0}
            onDone=${done}
          />
        </div>
        <div id="list" tabindex="-1">
          <${StillTable}
            subject=${subject}
            rows=${rows}
            caption="Rejected filings"
            columns=${shown}
            numbers=${['Premium']}
            empty=${html`<${Nothing} page=${page} isFiltered=${isFiltered} />`}
            more=${more}
            onMore=${list.showMore}
          />
        </div>
      </section>
    </div>`;
}

/** @type {(rejection: Rejection) => string} */
const keyOf = ({ account, filingId }) => `${account}\n${filingId}`;

// The accounts whose rejections are not known or old; nothing while all are current.
/** @param {{ page: RejectionPage }} props */
function BoardHealth({ page: { accounts, accountsTotal } }) {
  const troubled = accounts.filter(({ health }) => health !== 'ok');
  if (troubled.length === 0) return null;
  const who =
    troubled.length === 1
      ? 'One account is not current'
      : `${troubled.length} of ${accountsTotal} accounts are not current`;
  return html`<${AccountsNotice}
    accounts=${troubled}
    show=${(/** @type {BoardAccount} */ { account, health, asOf }) =>
      html`<a href=${href('accounts', account)}><${Text} value=${account} /></a>${' '}${
          health !== 'unknown' && html`<${Badge} word=${health} />`
        } <${AsOf} at=${asOf} />`}
    ><strong>${who}:</strong> there may be rejections that are not shown.<//
  >`;
}

// Lists the accounts without a subscription that covers REJECTED, if there are any.
/** @param {{ page: RejectionPage }} props */
function BoardCover({ page: { accounts } }) {
  const uncovered = accounts.filter(({ rejectionsCovered }) => rejectionsCovered === false);
  const [first, ...others] = uncovered;
  if (first === undefined) return null;
  if (others.length === 0) return html`<${Uncovered} account=${first} />`;
  return html`<${AccountsNotice}
    accounts=${uncovered}
    show=${(/** @type {BoardAccount} */ { account }) =>
      html`<a href=${href('accounts', account, 'subscriptions')}><${Text} value=${account} /></a>`}
    ><strong>Nobody is told when a filing of these accounts is rejected:</strong> they have no enabled
    subscription that covers REJECTED.<//
  >`;
}

/**
 * @param {{ accounts: BoardAccount[], show: (account: BoardAccount) => unknown, children?: unknown }} props
 */
function AccountsNotice({ accounts, show, children }) {
  return html`<div class="notice warn" role="status">
    <p>${children}</p>
    <ul>
      ${accounts.slice(0, troubledShown).map((one) => html`<li key=${one.account}>${show(one)}</li>`)}
    </ul>
    ${accounts.length > troubledShown && html`<p>… and ${accounts.length - troubledShown} more.</p>`}
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

// How many have each reason or state, most first; a click shows these only, another one all again. Above the
// list they are folded, to leave it the screen.
/** @param {{ name: 'reason' | 'state', items: readonly Group[] }} props */
function Facets({ name, items }) {
  const [query, setQuery] = useQuery();
  const [isLong, setLong] = useState(false);
  const chosen = query.get(name);
  const [isOpen] = useState(chosen !== null || !isAboveList.matches);
  if (items.length === 0) return null;
  const shown = isLong ? items : items.filter((item, at) => at < groupsShown || item[name] === chosen);
  const choose = (/** @type {string} */ value) => setQuery({ [name]: value === chosen ? null : value });
  const facet = (/** @type {{ value: string | null, count: number }} */ { value, count }) =>
    html`<li key=${value}>
      <button
        type="button"
        aria-pressed=${value !== null && value === chosen}
        aria-disabled=${value === null}
        onClick=${() => value !== null && choose(value)}
      >
        <strong>${number(count)}</strong>
        ${value === null ? html`<span class="none">none given</span>` : html`<${Text} value=${value} />`}
      </button>
    </li>`;
  return html`<details class="facets" open=${isOpen}>
    <summary>By ${name}</summary>
    <ul>
      ${shown.map((item) => facet({ value: item[name] ?? null, count: item.count }))}
    </ul>
    ${
      items.length > shown.length &&
      html`<button type="button" class="link" onClick=${() => setLong(true)}>
        ${number(items.length - shown.length)} more
      </button>`
    }
  </details>`;
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
