import { Counts, HealthAdvice, requestBudget } from '../parts/account-parts.js';
import { html } from '../parts/html.js';
import { Badge, Facts, Failure, Heading, Loading, When } from '../parts/parts.js';
import { href } from '../router.js';
import { useList } from '../data/use-resource.js';

/** @import { Account } from '../data/api-types.d.ts' */
/** @import { List } from '../data/use-resource.js' */

const refreshMs = 5000;

/** Every account with its health; for the operator. */
export function AccountsPage() {
  /** @type {List<Account>} */
  const { data, error, showMore } = useList('v1/accounts?limit=50', refreshMs);
  return html`<${Heading} title="Accounts" />
    <${Failure} error=${error} what="read the accounts" />
    ${data === null && error === null && html`<${Loading} what="the accounts" />`}
    ${data?.items.length === 0 && html`<${NoAccounts} />`}
    <div class="cards">
      ${data?.items.map((account) => html`<${AccountCard} key=${account.account} account=${account} />`)}
    </div>
    ${data?.more === true && html`<button type="button" onClick=${showMore}>Show more</button>`}`;
}

/** @param {{ account: Account }} props */
function AccountCard({ account }) {
  const { health, requests } = account;
  return html`<section class="card" aria-label=${`Account ${account.account}`}>
    <h2>
      <a href=${href('accounts', account.account)}><bdi class="text">${account.account}</bdi></a>
      <${Badge} word=${health.state} />
    </h2>
    <${HealthAdvice} account=${account} />
    <${Counts} account=${account} />
    <${Facts}
      items=${[
        ['Last complete poll', html`<${When} at=${health.lastCompletePollAt} />`],
        ['Request budget', requestBudget(requests)],
      ]}
    />
  </section>`;
}

function NoAccounts() {
  return html`<div class="empty">
    <p>
      There is no account yet. Start the daemon with <code>PARTNER_BASE_URL</code> and
      <code>PARTNER_KEY</code>, or create one:
    </p>
    <pre
      tabindex="0"
    ><code>${'curl -X PUT "$URL/v1/accounts/default" -H "Authorization: Bearer $API_TOKEN" \\\n  -H "Content-Type: application/json" -d \'{ "baseUrl": "https://…/v1", "partnerKey": "…" }\''}</code></pre>
  </div>`;
}
