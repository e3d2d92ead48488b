import { byTrouble, knowledgeOf } from '../data/knowledge.js';
import { folded } from '../data/filing-event.js';
import { useMayWrite } from '../session.js';
import { useList } from '../data/use-resource.js';
import { Count, filingsHref, Health, HealthAdvice, FailingSubscriptions } from '../parts/account-parts.js';
import { number } from '../parts/format.js';
import { html } from '../html.js';
import { Badge, Failure, Heading, Loading, Text, When } from '../parts/parts.js';
import { Table } from '../parts/table.js';
import { href, useQuery } from '../router.js';

/** @import { Account } from '../../api-types.ts' */
/** @import { List } from '../data/use-resource.js' */
/** @import { Row } from '../parts/table.js' */

const refreshMs = 5000;
const searchedFrom = 8;

/** Every account, those in trouble first; for the operator. */
export function AccountsPage() {
  /** @type {List<Account>} */
  const { data, error, showMore } = useList('v1/accounts?limit=50', refreshMs);
  const mayWrite = useMayWrite();
  const [query, setQuery] = useQuery();
  const q = folded(query.get('q') ?? '');
  const accounts = (data?.items ?? []).toSorted(byTrouble);
  const found = accounts.filter(({ account }) => folded(account).includes(q));
  return html`<${Heading} title="Accounts"
      >${mayWrite && html`<a class="button primary beside" href=${href('accounts', 'new')}>New account</a>`}<//
    >
    <${Failure} error=${error} what="read the accounts" />
    ${data === null && error === null && html`<${Loading} what="the accounts" />`}
    ${data?.items.length === 0 && html`<${NoAccounts} />`}
    ${
      accounts.length > 0 &&
      html`<${Totals} accounts=${accounts} isAll=${data?.more === false} />
        ${
          (accounts.length >= searchedFrom || q !== '') &&
          html`<label class="find"
            >Find an account
            <input
              type="search"
              value=${query.get('q') ?? ''}
              onInput=${(/** @type {any} */ { target }) => setQuery({ q: target.value })}
          /></label>`
        }
        <${AccountTable} accounts=${found} more=${data?.more === true} onMore=${showMore} />`
    }`;
}

/** @param {{ accounts: Account[], isAll: boolean }} props */
function Totals({ accounts, isAll }) {
  const current = accounts.filter((account) => knowledgeOf(account) === 'current');
  const sum = (/** @type {string} */ status) =>
    accounts.reduce((total, { counts }) => total + (counts[status] ?? 0), 0);
  const rejected = sum('REJECTED');
  const rest = accounts.length - current.length;
  return html`<p class="totals">
    <a href=${href('rejections')} class=${rejected > 0 ? 'bad' : 'plain'}
      ><strong>${number(rejected)}</strong> rejected</a
    >
    <span><strong>${number(sum('PENDING'))}</strong> pending</span>
    <span
      ><strong>${number(accounts.length)}</strong>
      ${accounts.length === 1 ? 'account' : 'accounts'}${!isAll && ' shown'}</span
    >
    ${rest > 0 && html`<span class="warn"><strong>${number(rest)}</strong> not current: their figures are older or missing</span>`}
  </p>`;
}

/** @param {{ accounts: Account[], more: boolean, onMore: () => void }} props */
function AccountTable({ accounts, more, onMore }) {
  const statuses = [...new Set(accounts.flatMap(({ counts }) => Object.keys(counts)))].toSorted(
    (one, other) => Number(other === 'REJECTED') - Number(one === 'REJECTED'),
  );
  return html`<${Table}
    caption="Accounts"
    columns=${['Account', 'Health', ...statuses, 'Subscriptions', 'Last complete poll']}
    numbers=${statuses}
    rows=${accounts.map((account) => rowOf(account, statuses))}
    empty="No account has such a name."
    more=${more}
    onMore=${onMore}
  />`;
}

/** @type {(account: Account, statuses: string[]) => Row} */
function rowOf(account, statuses) {
  const { account: name, health } = account;
  const knowledge = knowledgeOf(account);
  const link = html`<a href=${href('accounts', name)}><${Text} value=${name} /></a>`;
  const counts = statuses.map(
    (status) =>
      html`<a class=${`plain-count ${knowledge}`} href=${filingsHref(name, status)}
        ><${Count} count=${knowledge === 'unknown' ? null : (account.counts[status] ?? 0)} /><span
          class="in-card"
        >
          <${Badge} word=${status} /></span
      ></a>`,
  );
  const subscriptions = html`<${FailingSubscriptions} account=${name} />`;
  return {
    key: name,
    cells: [
      link,
      html`<${Health} account=${account} />`,
      ...counts,
      subscriptions,
      html`<${When} at=${health.lastCompletePollAt} />`,
    ],
    card: html`<div class="card-line"><strong>${link}</strong> <${Badge} word=${health.state} /></div>
      <div class="card-counts">${counts}</div>
      <div class="card-quiet">${subscriptions} · polled <${When} at=${health.lastCompletePollAt} /></div>`,
    below: health.state === 'ok' ? undefined : html`<${HealthAdvice} account=${account} />`,
  };
}

function NoAccounts() {
  return html`<div class="empty">
    <p>
      There is no account yet. <a href=${href('accounts', 'new')}>Add one</a>, or start the daemon with
      <code>PARTNER_BASE_URL</code> and <code>PARTNER_KEY</code>.
    </p>
  </div>`;
}
