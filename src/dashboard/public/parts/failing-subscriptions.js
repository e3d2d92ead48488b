import { apiPath } from '../data/api-client.js';
import { isInTrouble } from '../data/figures/delivery-stats.js';
import { useList } from '../data/use-resource.js';
import { number } from './format.js';
import { html } from './html.js';
import { Notice, Text } from './parts.js';
import { href } from '../router.js';

/** @import { Subscription } from '../../api-types.ts' */
/** @import { List } from '../data/use-resource.js' */

const refreshMs = 30_000;
// Number of pages with a hundred subscriptions each that are looked through.
const pagesMax = 10;
const namedMax = 10;

/**
 * How many subscriptions an account has, and how many are not in order; of the first thousand.
 * @param {{ account: string }} props
 */
export function FailingSubscriptions({ account }) {
  const { data } = useSubscriptions(account);
  if (data === null) return html`<span class="none">…</span>`;
  const failing = data.items.filter(isInTrouble).length;
  const all = `${number(data.items.length)}${data.more ? '+' : ''}`;
  return html`<a href=${href('accounts', account, 'subscriptions')}
    >${
      failing > 0
        ? html`<strong class="toned warn">${number(failing)} of ${all} not in order</strong>`
        : `${all} ${all === '1' ? 'subscription' : 'subscriptions'}`
    }</a
  >`;
}

/**
 * Names the subscriptions that are not in order and that a list does not show yet.
 * @param {{ account: string, shown: Subscription[] }} props
 */
export function FurtherFailing({ account, shown }) {
  const { data } = useSubscriptions(account);
  const ids = new Set(shown.map(({ id }) => id));
  const further = (data?.items ?? []).filter((one) => isInTrouble(one) && !ids.has(one.id));
  if (further.length === 0) return null;
  return html`<${Notice} tone="warn">
    <p>
      <strong
        >${number(further.length)} further ${further.length === 1 ? 'subscription is' : 'subscriptions are'}
        not in order:</strong
      >
    </p>
    <ul>
      ${further.slice(0, namedMax).map(
        ({ id, description, url, state }) =>
          html`<li key=${id}>
            <a href=${href('accounts', account, 'subscriptions', id)}
              ><${Text} value=${description || url}
            /></a>
            ${state}
          </li>`,
      )}
    </ul>
    ${further.length > namedMax && html`<p>… and ${number(further.length - namedMax)} more.</p>`}
  <//>`;
}

/** @type {(account: string) => List<Subscription>} */
const useSubscriptions = (account) =>
  useList(`${apiPath('accounts', account, 'subscriptions')}?limit=100`, refreshMs, pagesMax);
