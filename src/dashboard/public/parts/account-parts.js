import { useIsOperator, useMayWrite } from '../session.js';
import { number } from './format.js';
import { html } from '../html.js';
import { At, Badge, Heading, Text, When } from './parts.js';
import { href, withQuery } from '../router.js';
import { apiPath, useList } from '../data/api.js';
import { isInTrouble } from '../data/delivery-stats.js';

/** @import { Account, Subscription } from '../../api-types.ts' */
/** @import { ComponentChildren } from 'preact' */
/** @import { List } from '../data/api.js' */

/**
 * How far the stored filings of an account can be relied on: `current` while each poll is complete, `old`
 * when they are those of an earlier time, `unknown` before they were ever read as a whole.
 * @typedef {'current' | 'old' | 'unknown'} Knowledge
 */

/**
 * What is known of an account; pure. Zero rejections mean none only while it is `current`.
 * @param {Pick<Account, 'health'>} account
 * @returns {Knowledge}
 */
export function knowledgeOf({ health }) {
  if (health.lastCompletePollAt === null) return 'unknown';
  return health.state === 'ok' ? 'current' : 'old';
}

// The worst first; a state that this version does not know is as bad.
const healths = ['auth_failed', 'doubtful', 'stale', 'backing_off', 'baselining', 'ok'];

/**
 * The place of an account among others: the worst health first, then most rejections, then by name; pure.
 * @param {Account} one
 * @param {Account} other
 */
export function byTrouble(one, other) {
  return (
    rank(one) - rank(other) || (other.open ?? 0) - (one.open ?? 0) || one.account.localeCompare(other.account)
  );
}

/**
 * The number of filings in a status, or null if not known yet. Rejected filings count only if no other filing
 * answers them. Pure.
 * @param {Pick<Account, 'counts' | 'open'>} account
 * @param {string} status
 */
export const countOf = ({ counts, open }, status) =>
  status === 'REJECTED' ? open : (counts[status] ?? null);

/**
 * Statuses in the order in which they are shown; pure.
 * @param {readonly string[]} statuses
 */
export const rejectedFirst = (statuses) =>
  statuses.toSorted((one, other) => Number(other === 'REJECTED') - Number(one === 'REJECTED'));

/** @type {(account: Account) => number} */
const rank = ({ health }) => Math.max(0, healths.indexOf(health.state));

// The pages of an account and the places of their addresses.
const places = /** @type {const} */ ([
  ['Overview', ''],
  ['Changes', 'changes'],
  ['Filings', 'filings'],
  ['Subscriptions', 'subscriptions'],
  ['Tokens', 'tokens'],
  ['Settings', 'settings'],
]);

/**
 * The heading of a page of an account: the way back, and the navigation within the account, which leads to
 * tokens and settings only if the user may change them.
 * @param {{ account: string, at: (typeof places)[number][1], title: string, below?: [name: string, href:
 * string][], children?: ComponentChildren }} props `below`: if the page is one of those below this place, the
 * way from there
 */
export function AccountHeading({ account, at, title, below, children }) {
  const [mayWrite, isOperator] = [useMayWrite(), useIsOperator()];
  const isOpen = (/** @type {string} */ place) =>
    place === at || { tokens: mayWrite, settings: mayWrite && isOperator }[place] !== false;
  const addressOf = (/** @type {string} */ place) =>
    place === '' ? href('accounts', account) : href('accounts', account, place);
  const area = /** @type {[string, string][]} */ (
    places.filter(([, place]) => place === at).map(([name]) => [name, addressOf(at)])
  );
  const toAccount = at === '' ? (isOperator ? [['Accounts', href()]] : []) : [[account, addressOf('')]];
  return html`<${Heading} title=${title} crumbs=${[...toAccount, ...(below ? [...area, ...below] : [])]}
      >${children}<//
    >
    <nav aria-label="Account" class="tabs" ref=${showCurrent}>
      ${places
        .filter(([, place]) => isOpen(place))
        .map(
          ([name, place]) =>
            html`<a key=${name} href=${addressOf(place)} aria-current=${place === at ? 'page' : undefined}
              >${name}</a
            >`,
        )}
    </nav>`;
}

// The tabs scroll if there is no room for them side by side.
/** @type {(tabs: HTMLElement | null) => void} */
const showCurrent = (tabs) =>
  tabs?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });

/**
 * The health of an account, and of what time its filings are unless they are current.
 * @param {{ account: Account }} props
 */
export function Health({ account }) {
  return html`<${Badge} word=${account.health.state} /> ${
      knowledgeOf(account) !== 'current' && html`<${AsOf} at=${account.health.lastCompletePollAt} />`
    }`;
}

/**
 * The time of which the filings of an account are; null before they were ever read as a whole.
 * @param {{ at: string | null }} props
 */
export const AsOf = ({ at }) =>
  html`<span class="as-of"
    >${at === null ? 'not known yet' : html`as of <${At} at=${at} />, <${When} at=${at} />`}</span
  >`;

/**
 * The number of filings in each status, each a link to them, rejected ones first. A dash if not known yet,
 * grey if out of date.
 * @param {{ account: Account }} props
 */
export function Counts({ account }) {
  const knowledge = knowledgeOf(account);
  const counts = rejectedFirst(Object.keys(account.counts)).map(
    (status) => /** @type {const} */ ([status, countOf(account, status)]),
  );
  return html`<ul class=${`counts ${knowledge}`} aria-label="Filings by status">
    ${counts.map(
      ([status, count]) =>
        html`<li key=${status} class=${status === 'REJECTED' && (count ?? 0) > 0 ? 'foremost' : ''}>
          <a href=${filingsHref(account.account, status)}
            ><${Count} count=${count} /> <${Badge} word=${status}
          /></a>
        </li>`,
    )}
  </ul>`;
}

/**
 * A number of filings; a dash for null, before they were ever read as a whole.
 * @param {{ count: number | null }} props
 */
export function Count({ count }) {
  return count !== null
    ? html`<span class="count">${number(count)}</span>`
    : html`<span class="count"
        ><span aria-hidden="true">–</span><span class="hidden">not known yet</span></span
      >`;
}

/**
 * The address of the filings of an account in one status: of the rejected ones it is their board. Null for
 * those that are not completed.
 * @param {string} account
 * @param {string | null} status
 */
export function filingsHref(account, status) {
  if (status === 'REJECTED') return withQuery(href('rejections'), { account });
  return withQuery(href('accounts', account, 'filings'), { status });
}

const noticeTones = new Map([
  ['baselining', 'info'],
  ['backing_off', 'warn'],
]);

/**
 * The meaning of an account's health and what to do; nothing while all is well.
 * @param {{ account: Account }} props
 */
export function HealthAdvice({ account: { account, health } }) {
  const mayChange = useMayWrite() && useIsOperator();
  const advice = adviceFor(account, health, mayChange);
  if (advice === null && health.lastError === null) return null;
  const what = health.state === 'ok' ? 'The last poll could not read everything' : 'The last poll failed';
  return html`<div class=${`notice ${noticeTones.get(health.state) ?? 'bad'}`} role="status">
    ${advice} ${health.late && html`<p>${health.late.detail}</p>`}
    ${health.lastError !== null && html`<p>${what}: <${Text} value=${health.lastError} /></p>`}
  </div>`;
}

/** @type {(account: string, health: Account['health'], mayChange: boolean) => unknown} */
function adviceFor(account, health, mayChange) {
  const { state, doubt, consecutiveFailures, backoffUntil, lastCompletePollAt } = health;
  switch (state) {
    case 'ok':
      return null;
    case 'baselining':
      return 'All filings are being read for the first time. Changes are reported once that is complete.';
    case 'backing_off':
      return html`The partner service failed ${consecutiveFailures} times in a row. The next poll is
        <${When} at=${backoffUntil} never="soon" />. Nothing needs to be done unless it goes on.`;
    case 'auth_failed':
      return html`The partner service refuses the key, so no change is seen.
      ${
        mayChange
          ? html`<a href=${href('accounts', account, 'settings')}>Give it a valid key</a>;`
          : 'The operator has to give it a valid key;'
      }
      polling then resumes by itself.`;
    case 'doubtful':
      return html`What the partner service shows is not believed to be this account's own, and is held back
        since <${When} at=${doubt?.since ?? null} never="now" />: ${doubt?.shown} of ${doubt?.known} known
        filings are on its list, ${doubt?.unknown} unknown ones, ${doubt?.gone} known ones answer 404, and of
        ${doubt?.moved} only completedAt has changed. Check the partner service; the state ends by itself. If
        it is right, accept it with <code>POST /v1/accounts/${account}/accept</code>: then all of it is
        reported.`;
    case 'stale':
      return html`No poll was completed since <${When} at=${lastCompletePollAt} never="the start" />, so
        changes are missed for now. Check that the partner service answers and that a process with the role
        <code>poll</code> runs.`;
  }
}

const refreshMs = 30_000;
/** Number of pages with a hundred subscriptions each that are looked through. */
export const pagesMax = 10;

/**
 * How many subscriptions an account has, and how many are not working; of the first thousand.
 * @param {{ account: string }} props
 */
export function FailingSubscriptions({ account }) {
  /** @type {List<Subscription>} */
  const { data } = useList(`${apiPath('accounts', account, 'subscriptions')}?limit=100`, refreshMs, pagesMax);
  if (data === null) return html`<span class="none">…</span>`;
  const failing = data.items.filter(isInTrouble).length;
  const all = `${number(data.items.length)}${data.more ? '+' : ''}`;
  return html`<a href=${href('accounts', account, 'subscriptions')}
    >${
      failing > 0
        ? html`<strong class="toned warn">${number(failing)} of ${all} not working</strong>`
        : `${all} ${all === '1' ? 'subscription' : 'subscriptions'}`
    }</a
  >`;
}
