import { useMemo, useEffect, useRef, useState } from '../vendor/hooks.js';
import { createPulse, PulseContext, useFaults, usePulse } from '../data/pulse.js';
import { Clock, Text } from './parts.js';
import { html } from '../html.js';
import { href, parseHash, useHash } from '../router.js';
import { sleep } from '../data/sleep.js';
import { clockTime, relativeTime } from './format.js';

/** @import { ComponentChildren } from 'preact' */
/** @import { Session } from '../session.js' */
/** @import { Pulse } from '../data/pulse.js' */

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

const lookEveryMs = 10_000;
const afterSuspicionMs = 2000;

const away = 'The daemon does not answer. Check that it runs and that this machine reaches it.';

/** The faults of the daemon as a whole, above every page. */
export function Readiness() {
  const pulse = usePulse();
  useLooks(pulse);
  const faults = useFaults();
  if (faults.length === 0) return null;
  const at = pulse.lastReadAt();
  return html`<div class="notice bad banner" role="alert">
    <strong>The daemon does not keep its promise at the moment.</strong>
    ${at !== null && html` What you see is as of ${clockTime(at, Date.now(), true)}, and grey until it is current again.`}
    <ul>
      ${faults.map((reason) => html`<li key=${reason}><${Text} value=${reason} /></li>`)}
    </ul>
  </div>`;
}

// Looks every few seconds, and at once when a request had no answer.
/** @param {Pulse} pulse */
function useLooks(pulse) {
  useEffect(() => {
    const leave = new AbortController();
    let wake = new AbortController();
    const end = pulse.listen((what) => what === 'suspicion' && wake.abort());
    const look = async () => {
      while (!leave.signal.aborted) {
        wake = new AbortController();
        const found = await readReasons(leave.signal);
        if (!leave.signal.aborted) pulse.setReasons(found);
        const pause = found.length > 0 ? afterSuspicionMs : lookEveryMs;
        await sleep(pause, found.length > 0 ? leave.signal : AbortSignal.any([leave.signal, wake.signal]));
      }
    };
    void look();
    return () => {
      end();
      leave.abort();
    };
  }, [pulse]);
}

/** @type {(signal: AbortSignal) => Promise<string[]>} */
async function readReasons(signal) {
  try {
    const response = await fetch(new URL('health/ready', document.baseURI), { signal, cache: 'no-store' });
    const { reasons } = await response.json();
    return Array.isArray(reasons) ? reasons.map(String) : [];
  } catch {
    return [away];
  }
}

/** The search over all filings, on every page; the key `/` leads there. */
export function SearchField() {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [area, asked] = parseHash(useHash());
  useEffect(() => {
    if (field.current !== null) field.current.value = area === 'search' ? (asked ?? '') : '';
  }, [area, asked]);
  useEffect(() => {
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
  const press = (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== '/' || isTyping(event)) return;
    event.preventDefault();
    field.current?.focus();
    field.current?.select();
  };
  const search = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const q = field.current?.value.trim() ?? '';
    if (q !== '') location.hash = href('search', q);
  };
  return html`<form class="search" role="search" aria-label="Filings" onSubmit=${search}>
    <input
      ref=${field}
      type="search"
      name="q"
      maxlength="200"
      aria-label="Find a filing: policy number, insured or id"
      aria-keyshortcuts="/"
      placeholder="Policy number, insured or id"
      autocomplete="off"
      enterkeyhint="search"
    />
  </form>`;
}

/**
 * Goes to a page after `g` and a letter, as the address names it.
 * @param {Readonly<Record<string, string>>} places hashes by letter
 */
export function useShortcuts(places) {
  useEffect(() => {
    let began = 0;
    const press = (/** @type {KeyboardEvent} */ event) => {
      if (isTyping(event)) return;
      const to = event.timeStamp - began < 1000 ? places[event.key] : undefined;
      began = event.key === 'g' ? event.timeStamp : 0;
      if (to !== undefined) location.hash = to;
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [places]);
}

/** @type {(event: KeyboardEvent) => boolean} */
function isTyping({ target, altKey, ctrlKey, metaKey, isComposing }) {
  if (altKey || ctrlKey || metaKey || isComposing) return true;
  return target instanceof Element && target.closest('input, select, textarea, dialog') !== null;
}

const tickMs = 1000;

/** How long ago anything on the page was read. */
export function Updated() {
  const pulse = usePulse();
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), tickMs);
    return () => clearInterval(timer);
  }, []);
  const at = pulse.lastReadAt();
  return at === null
    ? null
    : html`<span class="quiet">Updated ${relativeTime(Math.min(at, now), now)}</span>`;
}
