import { ApiError, apiPath, createApiClient } from './data/api-client.js';

/**
 * The user who is signed in. Kept in sessionStorage: other tabs do not have it, and it ends with this one.
 * @typedef {object} Session
 * @property {string} token
 * @property {string | null} account the only account that the token opens; null for the operator
 */

const storageKey = 'filing-webhooks.session';

/** @returns {Session | null} */
export function restoreSession() {
  try {
    const stored = JSON.parse(sessionStorage.getItem(storageKey) ?? 'null');
    return typeof stored?.token === 'string' ? stored : null;
  } catch {
    return null;
  }
}

/** @param {Session | null} session null forgets it */
export function keepSession(session) {
  try {
    if (session === null) sessionStorage.removeItem(storageKey);
    else sessionStorage.setItem(storageKey, JSON.stringify(session));
  } catch {
    // A browser without storage asks for the token again after a reload.
  }
}

/**
 * Checks whether a token is valid and what it opens. Rejects with ApiError, code `unauthorized` for a
 * wrong one.
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
  const account = accountOf(token);
  const client = createApiClient(token, () => {});
  await client.get(account === null ? 'v1/accounts?limit=1' : apiPath('accounts', account));
  return { token, account };
}

// An account token ends in a dot and its account's name; the operator chooses theirs freely.
/** @type {(token: string) => string | null} */
function accountOf(token) {
  return /^fwa_[\w-]{43}\.(.+)$/.exec(token)?.[1] ?? null;
}
