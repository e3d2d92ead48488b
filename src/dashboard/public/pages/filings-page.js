import { apiPath, useResource } from '../data/api.js';
import { statusTones } from '../catalogue.js';
import { AccountHeading, Health, knowledgeOf } from '../parts/account-parts.js';
import { FilingsTable, isSorted } from '../parts/filings.js';
import { ChoiceFilter, Filters, TextFilter } from '../parts/filters.js';
import { number } from '../parts/format.js';
import { html } from '../html.js';
import { href, useQuery, withQuery } from '../router.js';

/** @import { Account } from '../../api-types.ts' */
/** @import { Resource } from '../data/api.js' */
/** @import { FilingChoice } from '../parts/filings.js' */

const refreshMs = 10_000;
const orders = [
  ['', 'Newest first'],
  ['oldest', 'Oldest first'],
  ['due', 'Due first'],
];
// Only the log knows when a filing was completed.
const ordersOfCompleted = [
  ['', 'Newest first'],
  ['any', 'All, without order'],
];

/**
 * The filings of an account as the daemon last saw them, by status, state and words.
 * @param {{ account: string }} props
 */
export function FilingsPage({ account: name }) {
  const [query] = useQuery();
  /** @type {Resource<Account>} */
  const { data: account } = useResource(apiPath('accounts', name), refreshMs);
  const status = query.get('status');
  /** @type {FilingChoice} */
  const choice = {
    status,
    state: query.get('state'),
    q: query.get('q'),
    order: orderOf(query.get('order')),
    statuses: Object.keys(account?.counts ?? statusTones),
  };
  return html`<${AccountHeading}
      account=${name}
      at="filings"
      title=${status === null ? 'Filings' : `Filings: ${status}`}
      >${account !== null && knowledgeOf(account) !== 'current' && html`<${Health} account=${account} />`}<//
    >
    <${StatusChips} name=${name} account=${account} choice=${choice} />
    <${Filters} label="Filings of this account">
      <${TextFilter} label="Policy number, insured or id" name="q" more=${{ maxlength: 200 }} />
      ${
        isSorted(choice) &&
        html`<${TextFilter} label="State" name="state" upper more=${{ maxlength: 16, placeholder: 'any' }} />`
      }
      <${ChoiceFilter} label="Order" name="order" options=${isSorted(choice) ? orders : ordersOfCompleted} />
    <//>
    ${
      status === 'REJECTED' &&
      html`<p>
        <a href=${withQuery(href('rejections'), { account: name })}>The rejection board</a> groups these by
        reason and state.
      </p>`
    }
    <${FilingsTable} account=${name} choice=${choice} />`;
}

/** @type {(text: string | null) => FilingChoice['order']} */
const orderOf = (text) => (text === 'oldest' || text === 'due' || text === 'any' ? text : 'newest');

/** @param {{ name: string, account: Account | null, choice: FilingChoice }} props */
function StatusChips({ name, account, choice: { status, state, q, order, statuses } }) {
  const offered = status === null || statuses.includes(status) ? statuses : [...statuses, status];
  const kept = { state, q, order: order === 'newest' ? null : order };
  const link = (/** @type {string} */ text, /** @type {string | null} */ one) => {
    const count = one === null ? undefined : account?.counts[one];
    return html`<a
      key=${text}
      href=${withQuery(href('accounts', name, 'filings'), { status: one, ...kept })}
      aria-current=${status === one ? 'page' : undefined}
      ><bdi>${text}</bdi>${count != null && html` <span class="chip-count">${number(count)}</span>`}</a
    >`;
  };
  return html`<nav aria-label="Status" class="chips">
    ${link(q === null ? 'Not completed' : 'All', null)}${offered.map((one) => link(one, one))}
  </nav>`;
}
