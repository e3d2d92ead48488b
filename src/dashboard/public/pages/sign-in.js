import { html, useEffect, useRef, useState } from '../html.js';
import { useAction } from '../parts/forms.js';
import { useHash } from '../router.js';
import { isFramed, keepWanted, signIn } from '../session.js';

/** @import { ComponentChildren } from 'preact' */
/** @import { Session } from '../../api-types.ts' */
/** @import { ApiError } from '../data/api.js' */

/**
 * Asks for a token until one is valid; inside of another site's page none is asked for.
 * @param {{ notice: string | null, onSignedIn: (session: Session) => void }} props `notice`: why one has to
 * sign in again
 */
export function SignIn({ notice, onSignedIn }) {
  const { error, busy, run } = useAction();
  const [isShown, setShown] = useState(false);
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => {
    field.current?.focus();
    field.current?.select();
  }, [error]);
  const hash = useHash();
  useEffect(keepWanted, [hash]);
  const submit = () => run(async () => onSignedIn(await signIn(field.current?.value ?? '')));
  const problem = error === null ? notice : reasonOf(error);
  const alert = html`<p id="token-problem" role="alert" class=${problem === null ? '' : 'notice bad'}>
    ${problem}
  </p>`;
  if (isFramed)
    return html`<${Question} name="Sign in" title="filing-webhooks">
      ${alert}
      <p>
        <a href=${location.pathname} target="_blank" rel="noopener">Open this page in a tab of its own</a> to
        sign in.
      </p>
    <//>`;
  return html`<${Question} name="Sign in" title="filing-webhooks" onSubmit=${submit}>
    <p>Sign in to see accounts, changes and deliveries.</p>
    ${alert}
    <label for="token">Token</label>
    <div class="pair">
      <input
        id="token"
        ref=${field}
        type=${isShown ? 'text' : 'password'}
        name="password"
        required
        autocomplete="current-password"
        spellcheck="false"
        aria-invalid=${error !== null}
        aria-describedby="token-help token-problem"
      />
      <button type="button" aria-pressed=${isShown} aria-controls="token" onClick=${() => setShown(!isShown)}>
        Show
      </button>
    </div>
    <p id="token-help" class="quiet">
      The operator's token (<code>API_TOKEN</code> of the daemon) or the token of one account. You stay signed
      in for up to 7 days, or 12 hours without use, in every tab, until you sign out. Were you given a link?
      Open it again: the page that you wanted is shown then.
    </p>
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
    <button type="submit" class="primary" aria-disabled=${busy}>${busy ? 'Signing in …' : 'Sign in'}</button>
  <//>`;
}

/** @type {(error: ApiError) => string} */
function reasonOf({ code, status, message }) {
  if (code === 'unauthorized')
    return 'This token is not valid. Check that it was copied whole, and that it was not revoked.';
  return status === 404 ? 'The account of this token no longer exists.' : message;
}

/**
 * Asks before a link takes the place of another session.
 * @param {{ session: Session, onOpen: () => void, onStay: () => void }} props
 */
export function OpenLink({ session, onOpen, onStay }) {
  const who = session.account === null ? 'as the operator' : `for the account ${session.account}`;
  return html`<${Question} name="Open a link" title="Open this link?">
    <p>You are signed in ${who}. The link opens something else, and signs you out of that in every tab.</p>
    <button type="button" class="primary" onClick=${onStay}>Stay signed in</button>
    <button type="button" onClick=${onOpen}>Open the link</button>
  <//>`;
}

// A form that is the whole page.
/** @param {{ name: string, title: string, onSubmit?: () => void, children?: ComponentChildren }} props */
function Question({ name, title, onSubmit, children }) {
  useEffect(() => {
    document.title = `${name} · filing-webhooks`;
  }, [name]);
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    onSubmit?.();
  };
  return html`<main class="sign-in">
    <form onSubmit=${submit}>
      <h1>${title}</h1>
      ${children}
    </form>
  </main>`;
}
