import { html, useEffect, useState } from '../html.js';
import { apiPath, useList, useResource } from '../data/api.js';
import { useSession } from '../session.js';
import { columnsOf, numbers, rowOf, Searched } from '../parts/filings.js';
import { number } from '../parts/format.js';
import { Failure, Heading, Text, whenRead } from '../parts/parts.js';
import { Table } from '../parts/tables.js';
import { href, withQuery } from '../router.js';

/** @import { Account, FilingPage } from '../../api-types.ts' */
/** @import { List, Resource } from '../data/api.js' */

/**
 * The result of a search in one account; `isPartial`: there may be others in what was not searched.
 * @typedef {{ count: number, more: boolean, isPartial: boolean }} Found
 */

const refreshMs = 30_000;
// Number of accounts that are searched at once.
const accountsAtOnce = 20;
const columns = columnsOf(null);

/**
 * Filings of every account that the user sees, by policy number, insured or id.
 * @param {{ q: string }} props
 */
export function SearchPage({ q }) {
  const { account } = useSession();
  return html`<${Heading} title=${`Search: ${q}`} /> ${
      account === null
        ? html`<${OfAllAccounts} q=${q} />`
        : html`<${OfAccounts} q=${q} accounts=${[account]} isAll />`
    }`;
}

/** @param {{ q: string }} props */
function OfAllAccounts({ q }) {
  /** @type {List<Account>} */
  const list = useList(`v1/accounts?limit=${accountsAtOnce}`, refreshMs);
  const show = (/** @type {NonNullable<typeof list.data>} */ { items, more }) =>
    html`<${OfAccounts} q=${q} accounts=${items.map(({ account }) => account)} isAll=${!more} />
      ${more && html`<button type="button" onClick=${list.showMore}>Search ${accountsAtOnce} more accounts</button>`}`;
  return whenRead(list, 'the accounts', show);
}

/** @param {{ q: string, accounts: string[], isAll: boolean }} props */
function OfAccounts({ q, accounts, isAll }) {
  const [found, setFound] = useState(/** @type {Readonly<Record<string, Found>>} */ ({}));
  const done = accounts.flatMap((account) => found[account] ?? []);
  // Accounts with hits come first.
  const hits = (/** @type {string} */ account) => Math.min(1, found[account]?.count ?? 0);
  const where =
    accounts.length === 1 ? '' : ` in ${number(accounts.length)}${isAll ? '' : ' of the'} accounts`;
  return html`<p role="status">${done.length < accounts.length ? 'Searching …' : resultOf(done, where)}</p>
    ${accounts
      .toSorted((one, other) => hits(other) - hits(one))
      .map(
        (account) =>
          html`<${OfAccount}
            key=${account}
            account=${account}
            q=${q}
            isNamed=${accounts.length > 1}
            onFound=${(/** @type {Found} */ result) => setFound((before) => ({ ...before, [account]: result }))}
          />`,
      )}`;
}

// "None" is said of what was searched, and a number of what is shown.
/** @type {(done: Found[], where: string) => string} */
function resultOf(done, where) {
  const hits = done.reduce((sum, { count }) => sum + count, 0);
  const least = done.some(({ count, more }) => count > 0 && more) ? 'At least ' : '';
  const partly = done.filter(({ isPartial }) => isPartial).length;
  const result = hits === 0 ? `No filing matches${where}` : `${least}${number(hits)} found${where}`;
  if (partly === 0) return `${result}.`;
  return done.length === 1
    ? `${result}, but not everything could be searched.`
    : `${result}, but ${number(partly)} of them could not be searched completely.`;
}

/**
 * @param {{ account: string, q: string, isNamed: boolean, onFound: (result: Found) => void }} props
 */
function OfAccount({ account, q, isNamed, onFound }) {
  const path = withQuery(`${apiPath('accounts', account, 'filings')}?limit=20&order=newest`, { q });
  /** @type {Resource<FilingPage>} */
  const { data, error } = useResource(path, refreshMs);
  useEffect(() => {
    if (data === null && error === null) return;
    const [count, more] = [data?.items.length ?? 0, data !== null && data.nextCursor !== null];
    const isPartial = data === null || data.searched?.service === 'unavailable' || (count === 0 && more);
    onFound({ count, more, isPartial });
  }, [data, error]);
  if (data === null) return html`<${Failure} error=${error} what=${`search the account ${account}`} />`;
  const isOver = data.nextCursor === null && data.searched?.service !== 'unavailable';
  if (data.items.length === 0 && isOver) return null;
  return html`<section aria-label=${`Filings of ${account}`}>
    ${
      isNamed &&
      html`<h2>
        <a href=${href('accounts', account)}><${Text} value=${account} /></a>
      </h2>`
    }
    <${Searched} page=${data} />
    ${
      data.items.length > 0 &&
      html`<${Table}
        caption=${`Filings of ${account}`}
        columns=${columns}
        numbers=${numbers}
        rows=${data.items.map((filing) => rowOf(columns, account, filing))}
        empty=""
      />`
    }
    ${
      data.nextCursor !== null &&
      html`<a href=${withQuery(href('accounts', account, 'filings'), { q })}
        >${data.items.length > 0 ? 'All that match in this account' : 'Search on in this account'}</a
      >`
    }
  </section>`;
}
