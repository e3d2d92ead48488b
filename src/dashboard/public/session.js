import { ApiError, createApiClient } from './data/api.js';
import { createContext, useContext } from './html.js';

/** @import { Session } from '../api-types.ts' */

/** Whether another page shows this one in a frame. */
export const isFramed = globalThis.self !== globalThis.top;

const path = 'v1/session';
const client = createApiClient(() => {});

/**
 * The present session, or null. Rejects with ApiError if the daemon cannot say.
 * @returns {Promise<Session | null>}
 */
export async function readSession() {
  try {
    return await client.get(path);
  } catch (error) {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  }
}

/**
 * Signs in with a token. Rejects with ApiError, code `unauthorized` for a wrong one.
 * @param {string} text
 * @returns {Promise<Session>}
 */
export async function signIn(text) {
  const token = text.trim();
  if (!/^[!-~]+$/.test(token)) {
    throw new ApiError(
      401,
      'unauthorized',
      'A token has no spaces and only plain letters, digits and signs.',
    );
  }
  return enter({ token });
}

/**
 * Signs in with what stands in a link. Rejects with ApiError, code `unauthorized` for one that has expired.
 * @param {string} secret
 * @returns {Promise<Session>}
 */
export async function openLink(secret) {
  return enter(secret.startsWith('fwl_') ? { link: secret } : { token: secret });
}

/** Ends the session in all tabs. Rejects with ApiError if the daemon did not. */
export async function signOut() {
  try {
    await client.send('DELETE', path);
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) throw error;
  }
  tellTabs();
}

const wantedKey = 'filing-webhooks.wanted';
// Milliseconds for which a page is kept that could not be shown without signing in.
const wantedMs = 3_600_000;

/** Keeps the page that the address names until a link is opened, also in another tab. */
export function keepWanted() {
  const { hash } = location;
  if (hash.length < 3 || hash.startsWith('#/link/')) return;
  inStorage((storage) => storage.setItem(wantedKey, JSON.stringify({ hash, at: Date.now() })));
}

/** Forgets it. */
export const dropWanted = () => inStorage((storage) => storage.removeItem(wantedKey));

// The page that was wanted before, if the link opens it, or else the start page.
/** @type {(secret: string) => string} */
function wantedPage(secret) {
  const account = encodeURIComponent(accountOf(secret) ?? '');
  const kept = inStorage((storage) => JSON.parse(storage.getItem(wantedKey) ?? '{}'));
  const hash = String(kept?.hash);
  const isOpened = hash.startsWith(`#/accounts/${account}/`) || hash.startsWith('#/rejections');
  return isOpened && Date.now() - Number(kept?.at) < wantedMs ? hash : '#/';
}

/**
 * The result of using the browser's storage, or null if that throws: it may be missing, or another script may
 * have written to it.
 * @template T
 * @param {(storage: Storage) => T} use
 * @returns {T | null}
 */
export function inStorage(use) {
  try {
    return use(localStorage);
  } catch {
    return null;
  }
}

/**
 * The secret of a link that the address holds, taken out of the address and its history; null for none. The
 * address names the page then that was wanted before.
 * @returns {string | null}
 */
export function takeLink() {
  const secret = /^#\/link\/([!-~]+)$/.exec(location.hash)?.[1] ?? null;
  if (secret === null) return null;
  history.replaceState(null, '', `${location.pathname}${location.search}${wantedPage(secret)}`);
  dispatchEvent(new Event('hashchange'));
  return secret;
}

/**
 * Decides how to use a link, given the open session, if any; pure. `stay`: the session already shows as much;
 * `ask`: it shows something else, which would end.
 * @param {string} secret
 * @param {Session | null} session
 * @returns {'open' | 'stay' | 'ask'}
 */
export function useOfLink(secret, session) {
  if (session === null) return 'open';
  if (accountOf(secret) !== session.account) return 'ask';
  return session.right === 'manage' ? 'stay' : 'open';
}

/**
 * Calls back when another tab signs in or out.
 * @param {() => void} listener
 * @returns {() => void} ends that
 */
export function onOtherTab(listener) {
  tabs.addEventListener('message', listener);
  return () => tabs.removeEventListener('message', listener);
}

const tabs = new BroadcastChannel('filing-webhooks.session');

function tellTabs() {
  // A channel reaches this origin alone, unlike the window that the rule is about.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  tabs.postMessage(null);
}

/** @type {(credentials: { token: string } | { link: string }) => Promise<Session>} */
async function enter(credentials) {
  const session = await client.send('POST', path, credentials);
  tellTabs();
  return session;
}

// A link and an account token end in a dot and the account's name; the operator chooses theirs freely.
/** @type {(secret: string) => string | null} */
function accountOf(secret) {
  return /^fw[al]_[\w-]{43}\.(.+)$/.exec(secret)?.[1] ?? null;
}

/** The rights of the user who is signed in. */
export const SessionContext = createContext(/** @type {Session} */ (/** @type {unknown} */ (null)));

/** @returns {Session} */
export const useSession = () => useContext(SessionContext);

/** Whether the user may change anything, so whether buttons that do are shown. */
export const useMayWrite = () => useSession().right === 'manage';

/** Whether the user may take note of filings, so whether buttons that do are shown. */
export const useMayTriage = () => useSession().right !== 'read';

/** Whether every account is open to the user. */
export const useIsOperator = () => useSession().account === null;
