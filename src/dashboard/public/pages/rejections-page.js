import { ActionButton, useAction } from '../parts/actions.js';
import { download } from '../data/api-client.js';
import { useFaults } from '../data/pulse.js';
import { useIsOperator } from '../session.js';
import { useClient, useList } from '../data/use-resource.js';
import { number, dollars } from '../parts/format.js';
import { html } from '../html.js';
import { Failure, Heading, Loading, Text, Age, FilingLink, At, Badge, When } from '../parts/parts.js';
import { href, useQuery, withQuery } from '../router.js';
import { SeenBy } from '../parts/seen.js';
import { StillTable } from '../parts/table.js';
import { useState } from '../vendor/hooks.js';

/** @import { Rejection, RejectionPage } from '../../api-types.ts' */
/** @import { List } from '../data/use-resource.js' */
/** @import { ComponentChildren } from 'preact' */

const refreshMs = 5000;
const filterNames = /** @type {const} */ (['account', 'state', 'reason', 'seen']);

/** Everything that is rejected in the accounts of the user, the oldest first. */
export function RejectionsPage() {
  const [query, setQuery] = useQuery();
  const isOperator = useIsOperator();
  const order = query.get('order') === 'newest' ? 'newest' : 'oldest';
  const filters = Object.fromEntries(filterNames.map((name) => [name, query.get(name)]));
  const path = withQuery('v1/rejections', { ...filters, order });
  /** @type {List<Rejection>} */
  const { data, error, reload, showMore } = useList(`${path}&limit=50`, refreshMs);
  const account = query.get('account');
  return html`<${Heading}
      title="Rejections"
      crumbs=${account === null || !isOperator ? [] : [[account, href('accounts', account)]]}
      >${data !== null && html`<${Total} page=${data.first} />`} <${Export} path=${path}
    /><//>
    <${Failure} error=${error} what="read the rejections" />
    ${data === null && error === null && html`<${Loading} what="the rejections" />`}
    ${
      data !== null &&
      html`<${BoardHealth} accounts=${data.first.accounts} total=${data.first.accountsTotal} />
        <div class="board">
          <div class="board-side">
            ${
              isOperator &&
              html`<${AccountChoice}
                accounts=${data.first.accounts}
                chosen=${account}
                onChoose=${(/** @type {string} */ value) => setQuery({ account: value })}
              />`
            }
            <${Groups} page=${data.first} query=${query} setQuery=${setQuery} />
          </div>
          <section aria-label="Rejected filings">
            <div class="filters">
              <${Order} order=${order} onChoose=${(/** @type {string} */ to) => setQuery({ order: to })} />
              <${SeenChoice}
                chosen=${query.get('seen')}
                onChoose=${(/** @type {string | null} */ seen) => setQuery({ seen })}
              />
              <${Chosen} query=${query} setQuery=${setQuery} />
            </div>
            <${RejectionRows}
              subject=${path}
              items=${data.items}
              showsAccount=${account === null && isOperator}
              empty=${html`<${Nothing} page=${data.first} isFiltered=${filterNames.some((name) => query.has(name))} />`}
              more=${data.more}
              onMore=${showMore}
              onChanged=${reload}
            />
          </section>
        </div>`
    }`;
}

/** @param {{ page: RejectionPage }} props */
function Total({ page: { total } }) {
  return html`<span class=${`total ${total > 0 ? 'bad' : 'plain'}`}>${number(total)}</span>`;
}

/** @param {{ path: string }} props */
function Export({ path }) {
  const client = useClient();
  const action = useAction();
  const save = () => download(client, path, 'text/csv', 'rejections.csv');
  return html`<span class="export"
    ><${ActionButton} action=${action} work=${save}>Export CSV<//
    ><${Failure} error=${action.error} what="export"
  /></span>`;
}

/** @typedef {(filters: Record<string, string | null>) => void} SetQuery */

/** @param {{ page: RejectionPage, query: URLSearchParams, setQuery: SetQuery }} props */
function Groups({ page: { byReason, byState, groupsComplete }, query, setQuery }) {
  return html`${!groupsComplete && html`<p class="quiet">Counted among the first 5,000.</p>`}<${Facets}
      title="By reason"
      items=${byReason.map(({ reason, count }) => ({ value: reason, count }))}
      chosen=${query.get('reason')}
      onChoose=${(/** @type {string | null} */ reason) => setQuery({ reason })}
    />
    <${Facets}
      title="By state"
      items=${byState.map(({ state, count }) => ({ value: state, count }))}
      chosen=${query.get('state')}
      onChoose=${(/** @type {string | null} */ state) => setQuery({ state })}
    />`;
}

/**
 * @param {{ accounts: RejectionPage['accounts'], chosen: string | null, onChoose: (value: string | null) =>
 * void }} props
 */
function AccountChoice({ accounts, chosen, onChoose }) {
  const names = new Set([...accounts.map(({ account }) => account), ...(chosen === null ? [] : [chosen])]);
  if (names.size < 2 && chosen === null) return null;
  return html`<label
    >Account
    <select value=${chosen ?? ''} onChange=${(/** @type {any} */ { target }) => onChoose(target.value)}>
      <option value="">All accounts</option>
      ${[...names].map((name) => html`<option key=${name} value=${name}>${name}</option>`)}
    </select>
  </label>`;
}

/** @param {{ order: 'oldest' | 'newest', onChoose: (order: string | null) => void }} props */
function Order({ order, onChoose }) {
  const button = (/** @type {string} */ name, /** @type {boolean} */ isOn, /** @type {string | null} */ to) =>
    html`<button type="button" aria-pressed=${isOn} onClick=${() => onChoose(to)}>${name}</button>`;
  return html`<div class="chips" role="group" aria-label="Order">
    ${button('Oldest first', order === 'oldest', null)}${button('Newest first', order === 'newest', 'newest')}
  </div>`;
}

/** @param {{ chosen: string | null, onChoose: (seen: string | null) => void }} props */
function SeenChoice({ chosen, onChoose }) {
  const button = (/** @type {string} */ name, /** @type {string} */ value) =>
    html`<button
      type="button"
      aria-pressed=${chosen === value}
      onClick=${() => onChoose(chosen === value ? null : value)}
    >
      ${name}
    </button>`;
  return html`<div class="chips" role="group" aria-label="Seen by somebody">
    ${button('Not seen yet', 'false')}${button('Seen', 'true')}
  </div>`;
}

/** @param {{ query: URLSearchParams, setQuery: SetQuery }} props */
function Chosen({ query, setQuery }) {
  const chosen = /** @type {const} */ (['reason', 'state']).filter((name) => query.has(name));
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

/**
 * Rejected filings with reason, age, and who took note of them.
 * @param {{ subject: string, items: Rejection[], showsAccount: boolean, empty: ComponentChildren, more:
 * boolean, onMore: () => void, onChanged: () => void }} props
 */
export function RejectionRows({ subject, items, showsAccount, empty, more, onMore, onChanged }) {
  const columns = ['Age', 'Insured', 'Policy', 'State', 'Premium', 'Reason'];
  return html`<${StillTable}
    subject=${subject}
    items=${items}
    keyOf=${(/** @type {Rejection} */ { account, filingId }) => `${account}\n${filingId}`}
    rowOf=${(/** @type {Rejection} */ one) => rowOf(one, showsAccount, onChanged)}
    caption="Rejected filings"
    columns=${[...columns, ...(showsAccount ? ['Account'] : []), 'Seen by']}
    numbers=${['Premium']}
    empty=${empty}
    more=${more}
    onMore=${onMore}
  />`;
}

/** @type {(one: Rejection, showsAccount: boolean, onChanged: () => void) => any} */
function rowOf(one, showsAccount, onChanged) {
  const { account, filingId, insuredsName, policyNumber, stateAbbr, premium, rejectionReason, since, seen } =
    one;
  const age = html`<${Age} since=${since} />`;
  const link = html`<${FilingLink} account=${account} filingId=${filingId} name=${insuredsName} />`;
  const policy = html`<${Text} value=${policyNumber} />`;
  const state = html`<${Text} value=${stateAbbr} />`;
  const reason = html`<span class="clamp reason"><${Text} value=${rejectionReason} /></span>`;
  const place = html`<a href=${href('accounts', account)}><${Text} value=${account} /></a>`;
  const seenBy = html`<${SeenBy}
    account=${account}
    filingId=${filingId}
    name=${insuredsName}
    seen=${seen}
    onChanged=${onChanged}
  />`;
  return {
    cells: [
      age,
      link,
      policy,
      state,
      html`<${Text} value=${dollars(premium)} />`,
      reason,
      ...(showsAccount ? [place] : []),
      seenBy,
    ],
    card: html`<div class="card-line"><span class="clamp">${link}</span> ${age}</div>
      <div class="card-quiet">${policy} · ${state}${showsAccount && html` · ${place}`}</div>
      ${reason}${seenBy}`,
  };
}

const shownAtFirst = 6;
const shownOnPhone = 3;

/**
 * How many of a list have each value, most first; a click shows these only, another one all again.
 * @param {{ title: string, items: { value: string | null, count: number }[], chosen: string | null, onChoose:
 * (value: string | null) => void }} props a value of null stands for none and cannot be chosen
 */
export function Facets({ title, items, chosen, onChoose }) {
  const [isLong, setLong] = useState(false);
  const few = matchMedia('(max-width: 40rem)').matches ? shownOnPhone : shownAtFirst;
  const shown = isLong ? items : items.filter(({ value }, at) => at < few || value === chosen);
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
              onClick=${() => value !== null && onChoose(value === chosen ? null : value)}
            >
              <span class="facet-count">${number(count)}</span>
              <span class="facet-value"
                >${value === null ? html`<span class="none">none given</span>` : html`<${Text} value=${value} />`}</span
              >
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

const shownMax = 10;

/**
 * The accounts whose rejections are not known, or are those of an earlier time; nothing while all are
 * current.
 * @param {{ accounts: RejectionPage['accounts'], total: number }} props `total`: also of those that are not
 * named, which are current
 */
export function BoardHealth({ accounts, total }) {
  const troubled = accounts.filter(({ health }) => health !== 'ok');
  if (troubled.length === 0) return null;
  return html`<div class="notice warn" role="status">
    <p>
      <strong
        >${
          troubled.length === 1
            ? 'One account is not current'
            : `${troubled.length} of ${total} accounts are not current`
        }:</strong
      >
      there may be rejections that are not shown.
    </p>
    <ul>
      ${troubled.slice(0, shownMax).map(
        ({ account, health, asOf }) =>
          html`<li key=${account}>
            <a href=${href('accounts', account)}><${Text} value=${account} /></a>
            <${Badge} word=${health} />${' '}
            ${asOf === null ? health !== 'unknown' && 'not known yet' : html`as of <${At} at=${asOf} />, <${When} at=${asOf} />`}
          </li>`,
      )}
    </ul>
    ${troubled.length > shownMax && html`<p>… and ${troubled.length - shownMax} more.</p>`}
  </div>`;
}
