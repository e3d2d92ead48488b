import { AccountPage } from './pages/account-page.js';
import { AccountsPage } from './pages/accounts-page.js';
import { SessionContext } from './session.js';
import { html } from './html.js';
import { Heading, Loading } from './parts/parts.js';
import { href, parseHash, useHash } from './router.js';
import { useEffect, useState } from './vendor/hooks.js';

/** @import { Session } from '../api-types.ts' */

/**
 * A page by its address: `:name` takes one segment and gives it to the component under that name.
 * @typedef {[pattern: string, component: (props: any) => unknown, who?: 'operator']} Route
 */

const RejectionsPage = lazy(() => import('./pages/rejections-page.js'), 'RejectionsPage');
const SearchPage = lazy(() => import('./pages/search-page.js'), 'SearchPage');
const FeedPage = lazy(() => import('./pages/feed-page.js'), 'FeedPage');
const FilingsPage = lazy(() => import('./pages/filings-page.js'), 'FilingsPage');
const FilingPage = lazy(() => import('./pages/filing-page.js'), 'FilingPage');
const SubscriptionsPage = lazy(() => import('./pages/subscriptions-page.js'), 'SubscriptionsPage');
const SubscriptionPage = lazy(() => import('./pages/subscription-page.js'), 'SubscriptionPage');
const NewSubscriptionPage = lazy(() => import('./pages/subscription-form.js'), 'NewSubscriptionPage');
const EditSubscriptionPage = lazy(() => import('./pages/subscription-form.js'), 'EditSubscriptionPage');
const AttemptPage = lazy(() => import('./pages/attempt-page.js'), 'AttemptPage');
const TokensPage = lazy(() => import('./pages/tokens-page.js'), 'TokensPage');
const NewAccountPage = lazy(() => import('./pages/account-form.js'), 'NewAccountPage');
const SettingsPage = lazy(() => import('./pages/account-form.js'), 'SettingsPage');

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

/**
 * A component whose file is loaded when it is first shown. While it is not there, a line says so.
 * @template {Record<string, unknown>} Props
 * @param {() => Promise<Record<string, any>>} load imports the file
 * @param {string} name the export that is the component
 * @returns {(props: Props) => unknown}
 */
export function lazy(load, name) {
  /** @type {((props: Props) => unknown) | null} */
  let loaded = null;
  return function Lazy(props) {
    const [, setTurn] = useState(0);
    const [failed, setFailed] = useState(false);
    useEffect(() => {
      if (loaded !== null) return;
      load().then(
        (file) => {
          loaded = file[name];
          setTurn((turn) => turn + 1);
        },
        () => setFailed(true),
      );
    }, []);
    if (loaded !== null) return html`<${loaded} ...${props} />`;
    if (!failed) return html`<${Loading} what="the page" />`;
    return html`<p class="notice bad" role="alert">
      <strong>Could not load this page.</strong> Check that the daemon runs, then reload.
    </p>`;
  };
}
