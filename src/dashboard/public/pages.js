import { AccountPage } from './pages/account-page.js';
import { AccountsPage } from './pages/accounts-page.js';
import { RejectionsPage } from './pages/rejections-page.js';
import { SearchPage } from './pages/search-page.js';
import { FeedPage } from './pages/feed-page.js';
import { FilingsPage } from './pages/filings-page.js';
import { FilingPage } from './pages/filing-page.js';
import { SubscriptionsPage } from './pages/subscriptions-page.js';
import { SubscriptionPage } from './pages/subscription-page.js';
import { NewSubscriptionPage, EditSubscriptionPage } from './pages/subscription-form.js';
import { AttemptPage } from './pages/attempt-page.js';
import { TokensPage } from './pages/tokens-page.js';
import { NewAccountPage, SettingsPage } from './pages/account-form.js';
import { SessionContext } from './session.js';
import { html } from './html.js';
import { Heading } from './parts/parts.js';
import { href, parseHash, useHash } from './router.js';

/** @import { Session } from '../api-types.ts' */

/**
 * A page by its address: `:name` takes one segment and gives it to the component under that name.
 * @typedef {[pattern: string, component: (props: any) => unknown, who?: 'operator']} Route
 */

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
