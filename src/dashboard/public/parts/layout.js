import { html, useEffect, useRef, useState } from '../html.js';
import { timeOfLastRead, useFaults, watchDaemon } from '../data/daemon.js';
import { href, parseHash, useHash } from '../router.js';
import { clockTime } from './format.js';
import { SkipLink, Text } from './parts.js';
import { inStorage } from '../session.js';

/** @import { ComponentChildren } from 'preact' */
/** @import { Session } from '../../api-types.ts' */

// The place in the browser's storage that says whether keys are shortcuts (WCAG 2.1.4).
const keysKey = 'filing-webhooks.keys';

/**
 * The frame of every page: the ways to other pages, the search, and the faults of the daemon as a whole. The
 * page is grey while what it shows may be old.
 * @param {{ session: Session, onSignOut: () => void, children?: ComponentChildren }} props
 */
export function Layout({ session, onSignOut, children }) {
  useEffect(() => {
    const leave = new AbortController();
    void watchDaemon(leave.signal);
    return () => leave.abort();
  }, []);
  const main = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => keepFocus(/** @type {HTMLElement} */ (main.current)), []);
  const faults = useFaults();
  const [area] = parseHash(useHash());
  const [keys, setKeys] = useState(() => inStorage((storage) => storage.getItem(keysKey)) !== 'off');
  const toggleKeys = () => {
    inStorage((storage) => storage.setItem(keysKey, keys ? 'off' : 'on'));
    setKeys(!keys);
  };
  const home = session.account === null ? href() : href('accounts', session.account);
  return html`<header>
      <${SkipLink} to="main">Skip to the content<//>
      <a class="brand" href=${home} aria-label="filing-webhooks: the start"
        ><img src="assets/icon.svg" alt="" width="24" height="24" /><span>filing-webhooks</span></a
      >
      <nav aria-label="Main">
        ${session.account === null && html`<a href=${href()} aria-current=${current(area === undefined)}>Accounts</a>`}
        <a href=${href('rejections')} aria-current=${current(area === 'rejections')}>Rejections</a>
      </nav>
      <${SearchField} home=${home} keys=${keys} />
      <button type="button" onClick=${onSignOut}>Sign out</button>
    </header>
    ${faults.length > 0 && html`<${Banner} faults=${session.account === null ? faults : []} />`}
    <main id="main" ref=${main} tabindex="-1" class=${faults.length > 0 ? 'gone' : ''}>${children}</main>
    <footer>
      <nav aria-label="More"><a href="docs/">API reference</a></nav>
      <label class="tick keys"
        ><input type="checkbox" checked=${keys} onChange=${toggleKeys} />
        <span class="quiet"
          >Keys: <kbd>/</kbd> search <kbd>g</kbd> <kbd>a</kbd> start <kbd>g</kbd>
          <kbd>r</kbd> rejections</span
        ></label
      >
    </footer>`;
}

/**
 * Gives the focus of an element that goes away to the nearest one that can take it: a button that has done
 * its work is often replaced by another.
 * @param {HTMLElement} main
 * @returns {() => void} ends that
 */
function keepFocus(main) {
  /** @type {EventTarget[]} */
  let around = [];
  const note = (/** @type {FocusEvent} */ event) => void (around = event.composedPath());
  const move = () => {
    const [held] = around;
    if (!(held instanceof Element) || held.isConnected || document.activeElement !== document.body) return;
    const box = around.find((one) => one instanceof Element && one.isConnected && main.contains(one));
    const within =
      box instanceof Element && box !== main ? box.querySelector('a[href], button, input') : null;
    const next = within ?? main.querySelector('h1');
    if (next instanceof HTMLElement) next.focus();
  };
  const observer = new MutationObserver(move);
  observer.observe(main, { childList: true, subtree: true });
  main.addEventListener('focusin', note);
  return () => {
    observer.disconnect();
    main.removeEventListener('focusin', note);
  };
}

// The causes are for the operator alone: others cannot do anything about them.
/** @param {{ faults: readonly string[] }} props */
function Banner({ faults }) {
  const at = timeOfLastRead();
  return html`<div class="notice bad banner" role="alert">
    <strong>What you see may be out of date.</strong>
    ${at !== null && html` It is as of ${clockTime(at, Date.now(), true)}, and grey until it is current again.`}
    ${
      faults.length > 0 &&
      html`<ul>
        ${faults.map((reason) => html`<li key=${reason}><${Text} value=${reason} /></li>`)}
      </ul>`
    }
  </div>`;
}

// The search over all filings. The key `/` leads there, `g` and a letter to a page.
/** @param {{ home: string, keys: boolean }} props */
function SearchField({ home, keys }) {
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [area, asked] = parseHash(useHash());
  useEffect(() => {
    if (field.current !== null) field.current.value = area === 'search' ? (asked ?? '') : '';
  }, [area, asked]);
  useEffect(() => {
    if (!keys) return undefined;
    let began = 0;
    const press = (/** @type {KeyboardEvent} */ event) => {
      if (isTyping(event)) return;
      const to = { a: home, r: href('rejections') }[event.key];
      if (to !== undefined && event.timeStamp - began < 1000) location.hash = to;
      began = event.key === 'g' ? event.timeStamp : 0;
      if (event.key !== '/') return;
      event.preventDefault();
      field.current?.select();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [home, keys]);
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
      aria-keyshortcuts=${keys ? '/' : undefined}
      placeholder="Policy number, insured or id"
      autocomplete="off"
      enterkeyhint="search"
    />
  </form>`;
}

/** @type {(isThis: boolean) => 'page' | undefined} */
const current = (isThis) => (isThis ? 'page' : undefined);

/** @type {(event: KeyboardEvent) => boolean} */
function isTyping({ target, altKey, ctrlKey, metaKey, isComposing }) {
  if (altKey || ctrlKey || metaKey || isComposing) return true;
  return target instanceof Element && target.closest('input, select, textarea, dialog') !== null;
}
