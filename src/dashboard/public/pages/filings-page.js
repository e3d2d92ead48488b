import { statusTones } from '../data/catalogue.js';
import { useTyped } from '../data/use-typed.js';
import { AccountNav } from '../parts/account-parts.js';
import { FilingsTable } from '../parts/filings/filings-table.js';
import { html } from '../parts/html.js';
import { Heading } from '../parts/parts.js';
import { href, useQuery, withQuery } from '../router.js';

const statuses = Object.keys(statusTones);

/**
 * The filings of an account as the daemon last saw them, by status, state and words.
 * @param {{ account: string, status?: string }} props `status`: of addresses that name it in their path
 */
export function FilingsPage({ account, status: named }) {
  const [query, setQuery] = useQuery();
  const status = query.get('status') ?? named ?? null;
  const state = query.get('state');
  const q = query.get('q');
  const order = query.get('order') === 'oldest' ? 'oldest' : 'newest';
  const [typed, setTyped] = useTyped(q ?? '', (text) => setQuery({ q: text.trim() }));
  const [typedState, setTypedState] = useTyped(state ?? '', (text) =>
    setQuery({ state: text.trim().toUpperCase() }),
  );
  return html`<${Heading}
      title=${status === null ? 'Filings' : `Filings: ${status}`}
      crumbs=${[[account, href('accounts', account)]]}
    />
    <${AccountNav} account=${account} at="filings" />
    <${StatusChips} account=${account} status=${status} query=${query} />
    <form class="filters" role="search" aria-label="Filings of this account" onSubmit=${stay}>
      <label
        >Policy number, insured or id
        <input
          type="search"
          maxlength="200"
          value=${typed}
          onInput=${(/** @type {any} */ { target }) => setTyped(target.value)}
      /></label>
      <label class="short"
        >State
        <input
          maxlength="2"
          value=${typedState}
          placeholder="any"
          autocomplete="off"
          onInput=${(/** @type {any} */ { target }) => setTypedState(target.value)}
      /></label>
      <label
        >Order
        <select
          value=${order}
          onChange=${(/** @type {any} */ { target }) => setQuery({ order: target.value === 'oldest' ? 'oldest' : null })}
        >
          <option value="newest">Newest first</option>
          <option value="oldest">Oldest first</option>
        </select></label
      >
    </form>
    ${
      status === 'REJECTED' &&
      html`<p>
        <a href=${withQuery(href('rejections'), { account })}>The rejection board</a> groups these by reason
        and state.
      </p>`
    }
    <${FilingsTable} account=${account} status=${status} state=${state} q=${q} order=${order} />`;
}

/** @param {Event} event */
const stay = (event) => event.preventDefault();

/** @param {{ account: string, status: string | null, query: URLSearchParams }} props */
function StatusChips({ account, status, query }) {
  const offered = status === null || statuses.includes(status) ? statuses : [...statuses, status];
  const kept = { state: query.get('state'), q: query.get('q'), order: query.get('order') };
  const link = (/** @type {string} */ name, /** @type {string | null} */ one) =>
    html`<a
      key=${name}
      href=${withQuery(href('accounts', account, 'filings'), { status: one, ...kept })}
      aria-current=${status === one ? 'page' : undefined}
      ><bdi>${name}</bdi></a
    >`;
  return html`<nav aria-label="Status" class="chips">
    ${link('All', null)}${offered.map((one) => link(one, one))}
  </nav>`;
}
