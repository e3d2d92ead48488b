import { statusTones } from '../data/catalogue.js';
import { AccountNav } from '../parts/account-parts.js';
import { FilingsTable } from '../parts/filings-table.js';
import { html } from '../parts/html.js';
import { Heading } from '../parts/parts.js';
import { href } from '../router.js';

const statuses = Object.keys(statusTones);

/**
 * The filings of an account as the daemon last saw them.
 * @param {{ account: string, status?: string }} props none: all of them
 */
export function FilingsPage({ account, status: only }) {
  const status = only ?? null;
  const offered = status === null || statuses.includes(status) ? statuses : [...statuses, status];
  const link = (/** @type {string} */ name, /** @type {string[]} */ ...segments) => {
    const current = status === (segments[0] ?? null);
    return html`<a
      key=${name}
      href=${href('accounts', account, 'filings', ...segments)}
      aria-current=${current ? 'page' : undefined}
      ><bdi>${name}</bdi></a
    >`;
  };
  return html`<${Heading}
      title=${status === null ? 'Filings' : `Filings: ${status}`}
      crumbs=${[[account, href('accounts', account)]]}
    />
    <${AccountNav} account=${account} at="filings" />
    <div class="filters">
      <nav aria-label="Status" class="chips">${link('All')}${offered.map((one) => link(one, one))}</nav>
      <${OpenById} account=${account} />
    </div>
    <${FilingsTable} account=${account} status=${status} />`;
}

/** @param {{ account: string }} props */
function OpenById({ account }) {
  const open = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const { elements } = /** @type {HTMLFormElement} */ (event.currentTarget);
    const id = /** @type {HTMLInputElement} */ (elements.namedItem('filing')).value.trim();
    if (id !== '') location.hash = href('accounts', account, 'filing', id);
  };
  return html`<form class="by-id" role="search" onSubmit=${open}>
    <input name="filing" aria-label="Id of a filing" placeholder="Id of a filing" autocomplete="off" />
    <button type="submit">Open</button>
  </form>`;
}
