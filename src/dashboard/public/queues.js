/**
 * Goes to the page of the queues. Browsers send no token when they go to a page, so a cookie is asked for
 * before; if there is none, the page says why.
 * @param {string} token the operator's
 */
export async function openQueues(token) {
  await ask('POST', token);
  location.assign('queues/');
}

/**
 * Forgets the cookie of that page; nothing happens where there is none.
 * @param {string} token the operator's
 */
export async function forgetQueues(token) {
  await ask('DELETE', token);
}

/** @type {(method: string, token: string) => Promise<void>} */
async function ask(method, token) {
  try {
    const headers = { authorization: `Bearer ${token}` };
    await fetch(new URL('queues/session', document.baseURI), { method, headers, redirect: 'error' });
  } catch {
    // The next page that is opened tells that the daemon does not answer.
  }
}
