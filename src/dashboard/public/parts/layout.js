import { useEffect, useRef, useState } from '../vendor/hooks.js';
import { Clock } from './clock.js';
import { html } from './html.js';
import { Text } from './parts.js';
import { href } from '../router.js';
import { sleep } from '../data/sleep.js';

/** @import { ComponentChildren } from 'preact' */
/** @import { Session } from '../session.js' */

const lookEveryMs = 10_000;

/**
 * The frame of every page, with the faults of the daemon as a whole.
 * @param {{ session: Session, onSignOut: () => void, children?: ComponentChildren }} props
 */
export function Layout({ session, onSignOut, children }) {
  const main = useRef(/** @type {HTMLElement | null} */ (null));
  const skip = (/** @type {Event} */ event) => {
    event.preventDefault(); // the part behind # is the page
    main.current?.focus();
  };
  const home = session.account === null ? href() : href('accounts', session.account);
  return html`<a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
    <header>
      <a class="brand" href=${home} aria-label="filing-webhooks: the start"
        ><img src="assets/icon.svg" alt="" width="24" height="24" /><span>filing-webhooks</span></a
      >
      <nav aria-label="Main">
        ${
          session.account === null &&
          html`<a href=${href()}>Accounts</a> <a href=${href('queues')}>Queues</a>`
        }
        <a href="docs/">API</a>
      </nav>
      <button type="button" onClick=${onSignOut}>Sign out</button>
    </header>
    <${Readiness} />
    <main id="main" ref=${main} tabindex="-1"><${Clock}>${children}<//></main>`;
}

function Readiness() {
  const reasons = useReasons();
  if (reasons.length === 0) return null;
  return html`<div class="notice bad banner" role="alert">
    <strong>The daemon does not keep its promise at the moment.</strong>
    <ul>
      ${reasons.map((reason) => html`<li key=${reason}><${Text} value=${reason} /></li>`)}
    </ul>
  </div>`;
}

// The reasons why the daemon is not ready; empty if it is.
function useReasons() {
  const [reasons, setReasons] = useState(/** @type {string[]} */ ([]));
  useEffect(() => {
    const leave = new AbortController();
    const look = async () => {
      while (!leave.signal.aborted) {
        const found = await readReasons(leave.signal);
        if (!leave.signal.aborted) setReasons(found);
        await sleep(lookEveryMs, leave.signal);
      }
    };
    void look();
    return () => leave.abort();
  }, []);
  return reasons;
}

/** @type {(signal: AbortSignal) => Promise<string[]>} */
async function readReasons(signal) {
  try {
    const response = await fetch(new URL('health/ready', document.baseURI), { signal, cache: 'no-store' });
    const { reasons } = await response.json();
    return Array.isArray(reasons) ? reasons.map(String) : [];
  } catch {
    return ['It does not answer. The page shows what was last read. Check that the daemon runs.'];
  }
}
