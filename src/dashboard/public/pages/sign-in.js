import { useEffect, useRef, useState } from '../vendor/hooks.js';
import { ApiError } from '../data/api-client.js';
import { html } from '../html.js';
import { isFramed, signIn } from '../session.js';

/** @import { Session } from '../../api-types.ts' */

/**
 * Asks for a token until one is valid.
 * @param {{ notice: string | null, onSignedIn: (session: Session) => void }} props `notice`: why one has to
 * sign in again
 */
export function SignIn({ notice, onSignedIn }) {
  const [problem, setProblem] = useState(notice);
  const [busy, setBusy] = useState(false);
  const [shown, setShown] = useState(false);
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => {
    document.title = 'Sign in · filing-webhooks';
    field.current?.focus();
  }, []);

  const submit = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    try {
      onSignedIn(await signIn(field.current?.value ?? ''));
    } catch (error) {
      setProblem(reasonOf(error));
      setBusy(false);
      field.current?.select();
    }
  };

  if (isFramed) return html`<${Framed} notice=${notice} />`;
  return html`<main class="sign-in">
    <form onSubmit=${submit}>
      <h1>filing-webhooks</h1>
      <p>Sign in to see accounts, changes and deliveries.</p>
      <label for="user">User name</label>
      <input
        id="user"
        type="text"
        name="username"
        autocomplete="username"
        spellcheck="false"
        aria-describedby="user-help"
      />
      <p id="user-help" class="quiet">Optional: only your password manager uses it.</p>
      <label for="token">Token</label>
      <div class="pair">
        <input
          id="token"
          ref=${field}
          type=${shown ? 'text' : 'password'}
          name="password"
          required
          autocomplete="current-password"
          spellcheck="false"
          aria-invalid=${problem !== null}
          aria-describedby="token-help token-problem"
        />
        <button type="button" aria-pressed=${shown} aria-controls="token" onClick=${() => setShown(!shown)}>
          Show
        </button>
      </div>
      <p id="token-help" class="quiet">
        The operator's token (<code>API_TOKEN</code> of the daemon) or the token of one account. You stay
        signed in for up to 7 days, in every tab, until you sign out.
      </p>
      <p id="token-problem" role="alert" class=${problem === null ? '' : 'notice bad'}>${problem}</p>
      <button type="submit" class="primary" aria-disabled=${busy}>
        ${busy ? 'Signing in …' : 'Sign in'}
      </button>
    </form>
  </main>`;
}

// A token is not asked for inside of another site's page.
/** @param {{ notice: string | null }} props */
function Framed({ notice }) {
  return html`<main class="sign-in">
    <form>
      <h1>filing-webhooks</h1>
      <p role="alert" class=${notice === null ? '' : 'notice bad'}>${notice}</p>
      <p>
        <a href=${location.pathname} target="_blank" rel="noopener">Open this page in a tab of its own</a> to
        sign in.
      </p>
    </form>
  </main>`;
}

/** @type {(error: unknown) => string} */
function reasonOf(error) {
  if (!(error instanceof ApiError)) return String(error);
  if (error.code === 'unauthorized')
    return 'This token is not valid. Check that it was copied whole, and that it was not revoked.';
  if (error.status === 404) return 'The account of this token no longer exists.';
  return error.message;
}

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
