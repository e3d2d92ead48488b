import { AccountPage } from './pages/account-page.js';
import { AccountsPage } from './pages/accounts-page.js';
import { SessionContext } from './data/session-context.js';
import { html } from './parts/html.js';
import { lazy } from './parts/lazy.js';
import { Heading } from './parts/parts.js';
import { href, parseHash, useHash } from './router.js';

/** @import { Session } from './session.js' */

/**
 * A page by its address: `:name` takes one segment and gives it to the component under that name.
 * @typedef {[pattern: string, component: (props: any) => unknown, who?: 'operator']} Route
 */

const RejectionsPage = lazy(() => import('./pages/rejections-page.js'), 'RejectionsPage');
const SearchPage = lazy(() => import('./pages/search-page.js'), 'SearchPage');
const FeedPage = lazy(() => import('./pages/feed-page.js'), 'FeedPage');
const FilingsPage = lazy(() => import('./pages/filings-page.js'), 'FilingsPage');
const FilingPage = lazy(() => import('./pages/filing-page.js'), 'FilingPage');
const SubscriptionsPage = lazy(
  () => import('./pages/subscriptions/subscriptions-page.js'),
  'SubscriptionsPage',
);
const SubscriptionPage = lazy(() => import('./pages/subscriptions/subscription-page.js'), 'SubscriptionPage');
const NewSubscriptionPage = lazy(
  () => import('./pages/subscriptions/new-subscription-page.js'),
  'NewSubscriptionPage',
);
const EditSubscriptionPage = lazy(
  () => import('./pages/subscriptions/edit-subscription-page.js'),
  'EditSubscriptionPage',
);
const AttemptPage = lazy(() => import('./pages/subscriptions/attempt-page.js'), 'AttemptPage');
const TokensPage = lazy(() => import('./pages/settings/tokens-page.js'), 'TokensPage');
const NewAccountPage = lazy(() => import('./pages/settings/new-account-page.js'), 'NewAccountPage');
const SettingsPage = lazy(() => import('./pages/settings/settings-page.js'), 'SettingsPage');

/** The first that fits is taken. @type {Route[]} */
const routes = [
  ['', AccountsPage, 'operator'],
  ['rejections', RejectionsPage],
  ['search', SearchPage],
  ['search/:q', SearchPage],
  ['accounts/new', NewAccountPage, 'operator'],
  ['accounts/:account', AccountPage],
  ['accounts/:account/changes', FeedPage],
  ['accounts/:account/filings', FilingsPage],
  ['accounts/:account/filings/:status', FilingsPage],
  ['accounts/:account/filing/:id', FilingPage],
  ['accounts/:account/subscriptions', SubscriptionsPage],
  ['accounts/:account/subscriptions/new', NewSubscriptionPage],
  ['accounts/:account/subscriptions/:id', SubscriptionPage],
  ['accounts/:account/subscriptions/:id/edit', EditSubscriptionPage],
  ['accounts/:account/attempts/:id', AttemptPage],
  ['accounts/:account/tokens', TokensPage],
  ['accounts/:account/settings', SettingsPage],
];

/**
 * The page that the address names.
 * @param {{ session: Session }} props
 */
export function Pages({ session }) {
  const hash = useHash();
  const named = parseHash(hash);
  const segments = named.length === 0 && session.account !== null ? ['accounts', session.account] : named;
  const [component, props] = find(segments, session) ?? [NotFound, {}];
  return html`<${SessionContext.Provider} value=${session}
    ><${component} key=${segments.join('\n')} ...${props}
  /><//>`;
}

/**
 * @type {(segments: string[], session: Session) => [(props: any) => unknown, Record<string, string>] | null}
 */
function find(segments, session) {
  for (const [pattern, component, who] of routes) {
    if (who === 'operator' && session.account !== null) continue;
    const props = match(pattern, segments);
    if (props !== null) return [component, props];
  }
  return null;
}

/** @type {(pattern: string, segments: string[]) => Record<string, string> | null} */
function match(pattern, segments) {
  const parts = pattern === '' ? [] : pattern.split('/');
  if (parts.length !== segments.length) return null;
  /** @type {Record<string, string>} */
  const props = {};
  for (const [place, part] of parts.entries()) {
    const segment = segments[place] ?? '';
    if (part.startsWith(':')) props[part.slice(1)] = segment;
    else if (part !== segment) return null;
  }
  return props;
}

function NotFound() {
  return html`<${Heading} title="There is no such page" />
    <p>The address may be cut off. <a href=${href()}>Begin at the start</a>.</p>`;
}
