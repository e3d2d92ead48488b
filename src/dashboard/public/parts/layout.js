import { useMemo } from '../vendor/hooks.js';
import { createPulse, PulseContext, useFaults } from '../data/pulse.js';
import { Clock } from './clock.js';
import { Readiness } from './frame/readiness.js';
import { SearchField, useShortcuts } from './frame/search-field.js';
import { Updated } from './frame/updated.js';
import { html } from './html.js';
import { href } from '../router.js';

/** @import { ComponentChildren } from 'preact' */
/** @import { Session } from '../session.js' */

/**
 * The frame of every page: the ways to other pages, the search, and the faults of the daemon as a whole.
 * @param {{ session: Session, onSignOut: () => void, children?: ComponentChildren }} props
 */
export function Layout({ session, onSignOut, children }) {
  const pulse = useMemo(createPulse, []);
  const home = session.account === null ? href() : href('accounts', session.account);
  useShortcuts(useMemo(() => ({ a: home, r: href('rejections') }), [home]));
  return html`<${PulseContext.Provider} value=${pulse}>
    <header>
      <a class="skip" href="#main" onClick=${toContent}>Skip to the content</a>
      <a class="brand" href=${home} aria-label="filing-webhooks: the start"
        ><img src="assets/icon.svg" alt="" width="24" height="24" /><span>filing-webhooks</span></a
      >
      <nav aria-label="Main">
        ${session.account === null && html`<a href=${href()}>Accounts</a>`}
        <a href=${href('rejections')}>Rejections</a>
      </nav>
      <${SearchField} />
      <button type="button" onClick=${onSignOut}>Sign out</button>
    </header>
    <${Readiness} />
    <${Main}>${children}<//>
    <footer>
      <${Updated} />
      <nav aria-label="More"><a href="docs/">API reference</a></nav>
      <span class="quiet keys"
        ><kbd>/</kbd> search <kbd>g</kbd> <kbd>a</kbd> start <kbd>g</kbd> <kbd>r</kbd> rejections</span
      >
    </footer>
  <//>`;
}

// Grey while what it shows may be old.
/** @param {{ children?: ComponentChildren }} props */
function Main({ children }) {
  const faults = useFaults();
  return html`<main id="main" tabindex="-1" class=${faults.length > 0 ? 'gone' : ''}>
    <${Clock}>${children}<//>
  </main>`;
}

/** @param {Event} event */
function toContent(event) {
  event.preventDefault(); // the part behind # is the page
  document.getElementById('main')?.focus();
}
