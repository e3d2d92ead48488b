import {
  byTrouble,
  Count,
  countOf,
  FailingSubscriptions,
  filingsHref,
  Health,
  HealthAdvice,
  knowledgeOf,
  rejectedFirst,
} from '../parts/account-parts.js';
import { statusTones } from '../catalogue.js';
import { folded } from '../data/filing-event.js';
import { useMayWrite } from '../session.js';
import { useList } from '../data/api.js';
import { Filters, TextFilter } from '../parts/filters.js';
import { number } from '../parts/format.js';
import { html } from '../html.js';
import { Badge, Heading, Text, When, whenRead } from '../parts/parts.js';
import { Table } from '../parts/tables.js';
import { href, useQuery } from '../router.js';

/** @import { Account } from '../../api-types.ts' */
/** @import { List } from '../data/api.js' */
/** @import { Row } from '../parts/tables.js' */

const refreshMs = 5000;
const searchedFrom = 8;

/** Every account, those in trouble first; for the operator. */
export function AccountsPage() {
  /** @type {List<Account>} */
  const list = useList('v1/accounts?limit=50', refreshMs);
  const mayWrite = useMayWrite();
  const show = (/** @type {NonNullable<typeof list.data>} */ { items, more }) =>
    items.length === 0
      ? html`<${NoAccounts} />`
      : html`<${Accounts} accounts=${items.toSorted(byTrouble)} more=${more} onMore=${list.showMore} />`;
  return html`<${Heading} title="Accounts"
      >${mayWrite && html`<a class="button primary at-end" href=${href('accounts', 'new')}>New account</a>`}<//
    >
    ${whenRead(list, 'the accounts', show)}`;
}

/** @param {{ accounts: Account[], more: boolean, onMore: () => void }} props */
function Accounts({ accounts, more, onMore }) {
  const [query] = useQuery();
  const q = folded(query.get('q') ?? '');
  const known = rejectedFirst(Object.keys(statusTones));
  const statuses = accounts.some(({ counts }) => othersIn(counts).length > 0) ? [...known, other] : known;
  const found = accounts.filter(({ account }) => folded(account).includes(q));
  return html`<${Totals} accounts=${accounts} isAll=${!more} />
    ${
      (accounts.length >= searchedFrom || q !== '') &&
      html`<${Filters} label="Accounts"><${TextFilter} label="Find an account" name="q" /><//>`
    }
    <${Table}
      caption="Accounts"
      columns=${['Account', 'Health', ...statuses, 'Subscriptions', 'Last complete poll']}
      numbers=${statuses}
      rows=${found.map((account) => rowOf(account, statuses))}
      empty="No account has such a name."
      more=${more}
      onMore=${onMore}
    />`;
}

/** @param {{ accounts: Account[], isAll: boolean }} props */
function Totals({ accounts, isAll }) {
  const current = accounts.filter((account) => knowledgeOf(account) === 'current');
  const sum = (/** @type {string} */ status) =>
    accounts.reduce((total, account) => total + (countOf(account, status) ?? 0), 0);
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

// The column of all statuses that this version does not know.
const other = 'other';

/** @type {(counts: Account['counts']) => string[]} */
const othersIn = (counts) => Object.keys(counts).filter((status) => !Object.hasOwn(statusTones, status));

/** @type {(account: Account, column: string) => number} */
function shownCount(account, column) {
  const statuses = column === other ? othersIn(account.counts) : [column];
  return statuses.reduce((sum, status) => sum + (countOf(account, status) ?? 0), 0);
}

/** @type {(account: Account, statuses: string[]) => Row} */
function rowOf(account, statuses) {
  const { account: name, health } = account;
  const knowledge = knowledgeOf(account);
  const link = html`<a href=${href('accounts', name)}><${Text} value=${name} /></a>`;
  const counts = statuses.map(
    (status) =>
      html`<a class=${`plain-count ${knowledge}`} href=${filingsHref(name, status === other ? null : status)}
        ><${Count} count=${knowledge === 'unknown' ? null : shownCount(account, status)} /><span
          class="in-card"
        >
          <${Badge} word=${status} /></span
      ></a>`,
  );
  const subscriptions = html`<${FailingSubscriptions} account=${name} /> ${
      account.rejectionsCovered === false &&
      html` <span class="toned warn">nobody is told of rejections</span>`
    }`;
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
      <div class="quiet">${subscriptions} · polled <${When} at=${health.lastCompletePollAt} /></div>`,
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
