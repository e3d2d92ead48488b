import { useEffect, useRef, useState } from '../vendor/hooks.js';
import { ApiError } from '../data/api-client.js';
import { html } from '../parts/html.js';
import { signIn } from '../session.js';

/** @import { Session } from '../session.js' */

/**
 * Asks for a token until one is valid.
 * @param {{ notice: string | null, onSignedIn: (session: Session) => void }} props `notice`: why one has to
 * sign in again
 */
export function SignIn({ notice, onSignedIn }) {
  const [problem, setProblem] = useState(notice);
  const [busy, setBusy] = useState(false);
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

  return html`<main class="sign-in">
    <form onSubmit=${submit}>
      <h1>filing-webhooks</h1>
      <p>Sign in to see accounts, changes and deliveries.</p>
      <label for="token">Token</label>
      <input
        id="token"
        ref=${field}
        type="password"
        required
        autocomplete="current-password"
        spellcheck="false"
        aria-invalid=${problem !== null}
        aria-describedby="token-help token-problem"
      />
      <p id="token-help" class="quiet">
        The operator's token (<code>API_TOKEN</code> of the daemon) or the token of one account. This tab
        forgets it when it is closed.
      </p>
      <p id="token-problem" role="alert" class=${problem === null ? '' : 'notice bad'}>${problem}</p>
      <button type="submit" class="primary" aria-disabled=${busy}>
        ${busy ? 'Signing in …' : 'Sign in'}
      </button>
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
