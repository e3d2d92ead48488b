import { number } from './format.js';
import { html } from './html.js';
import { Badge, Text, When } from './parts.js';
import { href } from '../router.js';

/** @import { Account } from '../data/api-types.d.ts' */

/**
 * The navigation within an account.
 * @param {{ account: string, at: '' | 'changes' | 'filings' | 'subscriptions' }} props
 */
export function AccountNav({ account, at }) {
  const places = /** @type {const} */ ([
    ['Overview', ''],
    ['Changes', 'changes'],
    ['Filings', 'filings'],
    ['Subscriptions', 'subscriptions'],
  ]);
  return html`<nav aria-label="Account" class="tabs">
    ${places.map(([name, place]) => {
      const to = place === '' ? href('accounts', account) : href('accounts', account, place);
      return html`<a key=${name} href=${to} aria-current=${place === at ? 'page' : undefined}>${name}</a>`;
    })}
  </nav>`;
}

/**
 * The number of filings in each status, each a link to them.
 * @param {{ account: Account }} props
 */
export function Counts({ account: { account, counts } }) {
  return html`<ul class="counts" aria-label="Filings by status">
    ${Object.entries(counts).map(
      ([status, count]) =>
        html`<li key=${status}>
          <a href=${href('accounts', account, 'filings', status)}
            ><span class="count">${number(count)}</span> <${Badge} word=${status}
          /></a>
        </li>`,
    )}
  </ul>`;
}

/**
 * The requests of the last poll as a share of those that one poll interval allows, in words; pure.
 * @param {Account['requests']} requests
 */
export function requestBudget({ lastPoll, budget }) {
  return `${number(lastPoll)} of ${number(budget)} by the last poll`;
}

/**
 * The meaning of an account's health and what to do; nothing while all is well.
 * @param {{ account: Account }} props
 */
export function HealthAdvice({ account: { account, health } }) {
  const advice = adviceFor(account, health);
  if (advice === null) return null;
  return html`<div class=${`notice ${health.state === 'baselining' ? 'info' : 'bad'}`} role="status">
    ${advice}
    ${health.lastError !== null && html`<p>The last poll ended with: <${Text} value=${health.lastError} /></p>`}
  </div>`;
}

/** @type {(account: string, health: Account['health']) => unknown} */
function adviceFor(account, { state, doubt, consecutiveFailures, backoffUntil, lastCompletePollAt }) {
  switch (state) {
    case 'ok':
      return null;
    case 'baselining':
      return 'All filings are being read for the first time. Changes are reported once that is complete.';
    case 'backing_off':
      return html`The partner service failed ${consecutiveFailures} times in a row. The next try is
        <${When} at=${backoffUntil} never="soon" />; nothing needs to be done unless it goes on.`;
    case 'auth_failed':
      return html`The partner service refuses the key, so no change is seen. Give a valid one with
        <code>PUT /v1/accounts/${account}</code>; polling then goes on by itself.`;
    case 'doubtful':
      return html`What the partner service shows is not believed to be this account's own, and is held back
        since <${When} at=${doubt?.since ?? null} never="now" />: ${doubt?.shown} of ${doubt?.known} known
        filings are on its list, ${doubt?.unknown} unknown ones, and ${doubt?.gone} known ones answer 404.
        Check the partner service; the state ends by itself. If it is right, accept it with
        <code>POST /v1/accounts/${account}/accept</code>: then all of it is reported.`;
    default:
      return html`No poll was completed since <${When} at=${lastCompletePollAt} never="the start" />, so
        changes are missed for now. Check that the partner service answers and that a process with the role
        <code>poll</code> runs.`;
  }
}
