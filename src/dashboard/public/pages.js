import { AccountPage } from './pages/account-page.js';
import { AccountsPage } from './pages/accounts-page.js';
import { sleep } from './data/daemon.js';
import { SessionContext } from './session.js';
import { html, useEffect, useState } from './html.js';
import { Heading, Loading } from './parts/parts.js';
import { href, parseHash, useHash } from './router.js';

/** @import { Session } from '../api-types.ts' */

/**
 * A page by its address: `:name` takes one segment and gives it to the component under that name. The
 * component of a page is there already, or is the export of this name in a file that is loaded when it is
 * first shown.
 * @typedef {[pattern: string, name: string, load: (() => Promise<any>) | null, who?: 'operator']} Route
 */

/** The components that are there, by their names. @type {Record<string, (props: any) => unknown>} */
const loaded = { AccountPage, AccountsPage };

const subscriptionForm = () => import('./pages/subscription-form.js');
const accountForm = () => import('./pages/account-form.js');

/** The first that fits is taken. @type {Route[]} */
const routes = [
  ['', 'AccountsPage', null, 'operator'],
  ['rejections', 'RejectionsPage', () => import('./pages/rejections-page.js')],
  ['search/:q', 'SearchPage', () => import('./pages/search-page.js')],
  ['accounts/new', 'NewAccountPage', accountForm, 'operator'],
  ['accounts/:account', 'AccountPage', null],
  ['accounts/:account/changes', 'FeedPage', () => import('./pages/feed-page.js')],
  ['accounts/:account/filings', 'FilingsPage', () => import('./pages/filings-page.js')],
  ['accounts/:account/filing/:id', 'FilingPage', () => import('./pages/filing-page.js')],
  ['accounts/:account/subscriptions', 'SubscriptionsPage', () => import('./pages/subscriptions-page.js')],
  ['accounts/:account/subscriptions/new', 'NewSubscriptionPage', subscriptionForm],
  ['accounts/:account/subscriptions/:id', 'SubscriptionPage', () => import('./pages/subscription-page.js')],
  ['accounts/:account/subscriptions/:id/edit', 'EditSubscriptionPage', subscriptionForm],
  ['accounts/:account/attempts/:id', 'AttemptPage', () => import('./pages/attempt-page.js')],
  ['accounts/:account/tokens', 'TokensPage', () => import('./pages/tokens-page.js')],
  ['accounts/:account/settings', 'SettingsPage', accountForm],
];

/**
 * The page that the address names.
 * @param {{ session: Session }} props
 */
export function Pages({ session }) {
  const named = parseHash(useHash());
  const segments = named.length === 0 && session.account !== null ? ['accounts', session.account] : named;
  const open = routes.filter(([, , , who]) => who !== 'operator' || session.account === null);
  for (const route of open) {
    const props = match(route[0], segments);
    if (props !== null)
      return html`<${SessionContext.Provider} value=${session}
        ><${Page} key=${segments.join('\n')} route=${route} props=${props}
      /><//>`;
  }
  return html`<${Heading} title="There is no such page" />
    <p>The address may be cut off. <a href=${href()}>Begin at the start</a>.</p>`;
}

/** @type {(pattern: string, segments: string[]) => Record<string, string> | null} */
function match(pattern, segments) {
  const parts = pattern === '' ? [] : pattern.split('/');
  const isName = (/** @type {string} */ part) => part.startsWith(':');
  const fits = parts.every((part, place) => isName(part) || part === segments[place]);
  if (!fits || parts.length !== segments.length) return null;
  const props = parts.map((part, place) => [part.slice(1), segments[place] ?? '']);
  return Object.fromEntries(props.filter((_, place) => isName(parts[place] ?? '')));
}

const askAgainMs = 2_000;

// A page whose file could not be loaded asks for it again until it is there.
/** @param {{ route: Route, props: Record<string, string> }} props */
function Page({ route: [, name, load], props }) {
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    if (loaded[name] !== undefined) return;
    const leave = new AbortController();
    const take = (/** @type {any} */ file) => void (loaded[name] = file[name]);
    void load?.()
      .then(take, () => sleep(askAgainMs, leave.signal))
      .then(() => leave.signal.aborted || setTurn(turn + 1));
    return () => leave.abort();
  }, [turn]);
  if (loaded[name] !== undefined) return html`<${loaded[name]} ...${props} />`;
  if (turn === 0) return html`<${Loading} what="the page" />`;
  return html`<p class="notice bad" role="alert">
    <strong>Could not load this page.</strong> It is asked for again until the daemon answers.
  </p>`;
}
