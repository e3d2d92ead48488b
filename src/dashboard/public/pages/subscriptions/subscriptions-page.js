import { AccountNav } from '../../parts/account-parts.js';
import { apiPath } from '../../data/api-client.js';
import { Stats } from '../../parts/deliveries.js';
import { number } from '../../parts/format.js';
import { html } from '../../parts/html.js';
import { Badge, Failure, Heading, Loading, Text, When } from '../../parts/parts.js';
import { href } from '../../router.js';
import { Table } from '../../parts/table.js';
import { useList, useResource } from '../../data/use-resource.js';

/** @import { Attempt, Page, Subscription } from '../../data/api-types.d.ts' */
/** @import { List, Resource } from '../../data/use-resource.js' */

const refreshMs = 5000;
const statsEveryMs = 30_000;

const columns = ['Called', 'State', 'Lag', 'Failures', 'Success, latency', 'Next attempt', 'Last success'];

/**
 * The subscriptions of an account with the state of their delivery.
 * @param {{ account: string }} props
 */
export function SubscriptionsPage({ account }) {
  const path = apiPath('accounts', account, 'subscriptions');
  /** @type {List<Subscription>} */
  const { data, error, showMore } = useList(path, refreshMs);
  return html`<${Heading} title="Subscriptions" crumbs=${[[account, href('accounts', account)]]} />
    <${AccountNav} account=${account} at="subscriptions" />
    <${Failure} error=${error} what="read the subscriptions" />
    ${data === null && error === null && html`<${Loading} what="the subscriptions" />`}
    ${
      data !== null &&
      html`<${Table}
        caption="Subscriptions"
        columns=${columns}
        rows=${data.items.map((subscription) => ({ key: subscription.id, cells: cellsOf(subscription) }))}
        empty=${html`There is no subscription yet. Register an endpoint with <code>POST /v1/accounts/${account}/subscriptions</code>; <a href="docs/">the API</a> says how.`}
        more=${data.more}
        onMore=${showMore}
      />`
    }`;
}

/** @type {(subscription: Subscription) => unknown[]} */
function cellsOf(subscription) {
  const { account, id, url, description, state, lag, consecutiveFailures, nextAttemptAt, lastSuccessAt } =
    subscription;
  return [
    html`<a href=${href('accounts', account, 'subscriptions', id)}><${Text} value=${url} /></a
      >${description && html`<br /><span class="quiet"><${Text} value=${description} /></span>`}`,
    html`<${Badge} word=${state} />`,
    number(lag),
    number(consecutiveFailures),
    html`<${Lately} account=${account} id=${id} />`,
    html`<${When} at=${nextAttemptAt} never="none due" />`,
    html`<${When} at=${lastSuccessAt} />`,
  ];
}

// The acknowledged share of the latest attempts, and their speed.
/** @param {{ account: string, id: string }} props */
function Lately({ account, id }) {
  const path = `${apiPath('accounts', account, 'subscriptions', id, 'attempts')}?limit=50`;
  /** @type {Resource<Page<Attempt>>} */
  const { data } = useResource(path, statsEveryMs);
  return data === null ? html`<span class="none">…</span>` : html`<${Stats} attempts=${data.items} />`;
}
