import { apiPath } from '../data/api-client.js';
import { useResource } from '../data/use-resource.js';
import { number } from './format.js';
import { html } from './html.js';
import { href } from '../router.js';

/** @import { Page, Subscription } from '../data/api-types.d.ts' */
/** @import { Resource } from '../data/use-resource.js' */

const refreshMs = 30_000;

/**
 * How many subscriptions an account has, and whether some fail; of the first hundred.
 * @param {{ account: string }} props
 */
export function FailingSubscriptions({ account }) {
  /** @type {Resource<Page<Subscription>>} */
  const { data } = useResource(`${apiPath('accounts', account, 'subscriptions')}?limit=100`, refreshMs);
  if (data === null) return html`<span class="none">…</span>`;
  const failing = data.items.filter(({ state }) => state === 'failing').length;
  const all = `${number(data.items.length)}${data.nextCursor === null ? '' : '+'}`;
  return html`<a href=${href('accounts', account, 'subscriptions')}
    >${
      failing > 0
        ? html`<strong class="toned warn">${number(failing)} of ${all} failing</strong>`
        : `${all} ${all === '1' ? 'subscription' : 'subscriptions'}`
    }</a
  >`;
}
