import { useEffect, useState } from '../vendor/hooks.js';
import { apiPath } from '../data/api-client.js';
import { useSession } from '../data/session-context.js';
import { useList, useResource } from '../data/use-resource.js';
import { columnsOf, keyOf, numbers, rowOf } from '../parts/filings/filing-columns.js';
import { Searched } from '../parts/filings/searched.js';
import { number } from '../parts/format.js';
import { html } from '../parts/html.js';
import { Failure, Heading, Loading, Text } from '../parts/parts.js';
import { Table } from '../parts/table.js';
import { href, withQuery } from '../router.js';

/** @import { Account, Filing, Page } from '../data/api-types.d.ts' */
/** @import { List, Resource } from '../data/use-resource.js' */

const refreshMs = 30_000;
// Number of accounts that are searched at once.
const accountsAtOnce = 20;
const filingsShown = 20;
const columns = columnsOf(null);

/**
 * Filings of every account that the user sees, by policy number, insured or id.
 * @param {{ q?: string }} props
 */
export function SearchPage({ q = '' }) {
  const { account } = useSession();
  const text = q.trim();
  return html`<${Heading} title=${text === '' ? 'Search' : `Search: ${text}`} /> ${
      text === ''
        ? html`<p class="empty">
            Type a policy number, an insured or the id of a filing into the field above.
          </p>`
        : account === null
          ? html`<${OfAllAccounts} q=${text} />`
          : html`<${OfAccounts} q=${text} accounts=${[account]} isAll />`
    }`;
}

/** @param {{ q: string }} props */
function OfAllAccounts({ q }) {
  /** @type {List<Account>} */
  const { data, error, showMore } = useList(`v1/accounts?limit=${accountsAtOnce}`, refreshMs);
  if (data === null)
    return error === null
      ? html`<${Loading} what="the accounts" />`
      : html`<${Failure} error=${error} what="read the accounts" />`;
  return html`<${OfAccounts}
      q=${q}
      accounts=${data.items.map(({ account }) => account)}
      isAll=${!data.more}
    />
    ${data.more && html`<button type="button" onClick=${showMore}>Search ${accountsAtOnce} more accounts</button>`}`;
}

/** @param {{ q: string, accounts: string[], isAll: boolean }} props */
function OfAccounts({ q, accounts, isAll }) {
  const [found, setFound] = useState(/** @type {Readonly<Record<string, number>>} */ ({}));
  const done = accounts.filter((account) => found[account] !== undefined);
  const hits = done.reduce((sum, account) => sum + (found[account] ?? 0), 0);
  const where =
    accounts.length === 1 ? '' : ` in ${number(accounts.length)}${isAll ? '' : ' of the'} accounts`;
  return html`<p role="status">
      ${done.length < accounts.length ? 'Searching …' : hits === 0 ? `No filing matches${where}.` : `${number(hits)} found${where}.`}
    </p>
    ${withHitsFirst(accounts, found).map(
      (account) =>
        html`<${OfAccount}
          key=${account}
          account=${account}
          q=${q}
          isNamed=${accounts.length > 1}
          onFound=${(/** @type {number} */ count) => setFound((before) => ({ ...before, [account]: count }))}
        />`,
    )}`;
}

/** @type {(accounts: string[], found: Readonly<Record<string, number>>) => string[]} */
const withHitsFirst = (accounts, found) =>
  accounts.toSorted((one, other) => Number((found[other] ?? 0) > 0) - Number((found[one] ?? 0) > 0));

/**
 * @param {{ account: string, q: string, isNamed: boolean, onFound: (count: number) => void }} props
 */
function OfAccount({ account, q, isNamed, onFound }) {
  const path = withQuery(`${apiPath('accounts', account, 'filings')}?limit=${filingsShown}`, {
    order: 'newest',
    q,
  });
  /** @type {Resource<Page<Filing> & { searched?: any }>} */
  const { data, error } = useResource(path, refreshMs);
  useEffect(() => {
    if (data !== null || error !== null) onFound(data?.items.length ?? 0);
  }, [data, error]);
  if (data === null) return html`<${Failure} error=${error} what=${`search the account ${account}`} />`;
  if (data.items.length === 0 && data.searched?.service !== 'unavailable') return null;
  return html`<section aria-label=${`Filings of ${account}`}>
    ${
      isNamed &&
      html`<h2>
        <a href=${href('accounts', account)}><${Text} value=${account} /></a>
      </h2>`
    }
    <${Searched} searched=${data.searched ?? null} />
    ${
      data.items.length > 0 &&
      html`<${Table}
        caption=${`Filings of ${account}`}
        columns=${columns.map(([name]) => name)}
        numbers=${numbers}
        rows=${data.items.map((filing) => ({ key: keyOf(filing), ...rowOf(columns, account, filing) }))}
        empty=""
      />`
    }
    ${
      data.nextCursor !== null &&
      html`<a href=${withQuery(href('accounts', account, 'filings'), { q })}
        >All that match in this account</a
      >`
    }
  </section>`;
}
