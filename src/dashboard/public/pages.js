import { AccountPage } from './pages/account-page.js';
import { AccountsPage } from './pages/accounts-page.js';
import { FeedPage } from './pages/feed-page.js';
import { FilingPage } from './pages/filing-page.js';
import { FilingsPage } from './pages/filings-page.js';
import { html } from './parts/html.js';
import { Heading } from './parts/parts.js';
import { QueuesPage } from './pages/queues-page.js';
import { href, parseHash, useHash } from './router.js';
import { SubscriptionPage } from './pages/subscription-page.js';
import { SubscriptionsPage } from './pages/subscriptions-page.js';

/** @import { Session } from './session.js' */

/**
 * The page that the address names.
 * @param {{ session: Session }} props
 */
export function Pages({ session }) {
  const hash = useHash();
  const segments = parseHash(hash);
  const all = segments.length === 0 && session.account !== null ? ['accounts', session.account] : segments;
  return html`<${Page} key=${all.join('\n')} segments=${all} session=${session} />`;
}

/** @param {{ segments: string[], session: Session }} props */
function Page({ segments, session }) {
  const [area, account, section, id] = segments;
  if (area === undefined) return html`<${AccountsPage} />`;
  if (area === 'queues' && segments.length === 1 && session.account === null) return html`<${QueuesPage} />`;
  if (area !== 'accounts' || account === undefined || segments.length > 4) return html`<${NotFound} />`;
  if (section === undefined) {
    const crumbs = session.account === null ? [['Accounts', href()]] : [];
    return html`<${AccountPage} account=${account} crumbs=${crumbs} />`;
  }
  if (section === 'changes') return html`<${FeedPage} account=${account} />`;
  if (section === 'filings') return html`<${FilingsPage} account=${account} status=${id ?? null} />`;
  if (section === 'filing' && id !== undefined)
    return html`<${FilingPage} account=${account} filingId=${id} />`;
  if (section !== 'subscriptions') return html`<${NotFound} />`;
  if (id === undefined) return html`<${SubscriptionsPage} account=${account} />`;
  return html`<${SubscriptionPage} account=${account} id=${id} />`;
}

function NotFound() {
  return html`<${Heading} title="There is no such page" />
    <p>The address may be cut off. <a href=${href()}>Begin at the start</a>.</p>`;
}
