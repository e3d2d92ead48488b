import { useEffect } from '../vendor/hooks.js';
import { html } from '../parts/html.js';

/** @import { Session } from '../session.js' */

/**
 * Asks before a link takes the place of another session.
 * @param {{ session: Session, onOpen: () => void, onStay: () => void }} props
 */
export function OpenLink({ session, onOpen, onStay }) {
  useEffect(() => {
    document.title = 'Open a link · filing-webhooks';
  }, []);
  const who = session.account === null ? 'as the operator' : `for the account ${session.account}`;
  return html`<main class="sign-in">
    <form onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
      <h1>Open this link?</h1>
      <p>You are signed in ${who}. The link opens something else, and signs you out of that in every tab.</p>
      <button type="button" class="primary" onClick=${onStay}>Stay signed in</button>
      <button type="button" onClick=${onOpen}>Open the link</button>
    </form>
  </main>`;
}
