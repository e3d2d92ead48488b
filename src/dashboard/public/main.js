import { html, render, useEffect, useMemo, useState } from './html.js';
import { ApiError, ClientContext, createApiClient } from './data/api.js';
import { Layout } from './parts/layout.js';
import { OpenLink, SignIn } from './pages/sign-in.js';
import { Pages } from './pages.js';
import { dropWanted, onOtherTab, openLink, readSession, signOut, takeLink, useOfLink } from './session.js';
import { sleep } from './data/daemon.js';

/** @import { Session } from '../api-types.ts' */

/**
 * `unknown`: the daemon has not said yet who is signed in; `wait` is the reason, if there is one.
 * @typedef {{ is: 'unknown', wait: string | null } | { is: 'out', notice: string | null } |
 * { is: 'in', session: Session } | { is: 'asked', session: Session, link: string }} State
 */

const askAgainMs = 2_000;
const over = 'The token is no longer valid, or the session has ended. Sign in again.';

function App() {
  const [state, setState] = useState(/** @type {State} */ ({ is: 'unknown', wait: null }));
  useEffect(() => follow(setState), []);
  useEffect(() => {
    if (state.is === 'in') dropWanted();
  }, [state.is]);

  const enter = (/** @type {Session} */ session) => setState({ is: 'in', session });
  const leave = async () => {
    const why = await signOut().then(() => null, messageOf);
    const notice = why && `The session has not ended: ${why} Sign out again when the daemon answers.`;
    setState({ is: 'out', notice });
  };
  const session = state.is === 'in' ? state.session : null;
  const client = useMemo(
    () => createApiClient(() => setState((now) => (now.is === 'in' ? { is: 'out', notice: over } : now))),
    [session],
  );

  if (state.is === 'unknown' && state.wait === null)
    return html`<p class="banner" role="status">Loading …</p>`;
  if (state.is === 'unknown')
    return html`<main>
      <h1>filing-webhooks</h1>
      <p class="notice bad" role="status">
        <strong>Not available yet; this page asks again by itself.</strong> ${state.wait}
      </p>
    </main>`;
  if (state.is === 'out')
    return html`<${SignIn} key=${state.notice} notice=${state.notice} onSignedIn=${enter} />`;
  if (state.is === 'asked') {
    return html`<${OpenLink}
      session=${state.session}
      onOpen=${() => open(state.link, setState)}
      onStay=${() => enter(state.session)}
    />`;
  }
  return html`<${ClientContext.Provider} value=${client}>
    <${Layout} session=${state.session} onSignOut=${leave}><${Pages} session=${state.session} /><//>
  <//>`;
}

/**
 * Finds out who is signed in: now, when another tab signs in or out, and when a link is opened.
 * @type {(setState: (state: State) => void) => () => void}
 */
function follow(setState) {
  const leave = new AbortController();
  const look = async () => {
    const link = takeLink();
    const session = await untilKnown(setState, leave.signal);
    if (leave.signal.aborted) return;
    const use = link === null ? 'stay' : useOfLink(link, session);
    if (link !== null && use === 'open') await open(link, setState);
    else if (link !== null && use === 'ask' && session !== null) setState({ is: 'asked', session, link });
    else setState(session === null ? { is: 'out', notice: null } : { is: 'in', session });
  };
  const onHash = () => void (location.hash.startsWith('#/link/') && look());
  addEventListener('hashchange', onHash);
  const end = onOtherTab(() => void look());
  void look();
  return () => {
    leave.abort();
    removeEventListener('hashchange', onHash);
    end();
  };
}

/** @type {(link: string, setState: (state: State) => void) => Promise<void>} */
const open = (link, setState) =>
  openLink(link).then(
    (session) => setState({ is: 'in', session }),
    (error) => setState({ is: 'out', notice: messageOf(error) }),
  );

/** @type {(setState: (state: State) => void, signal: AbortSignal) => Promise<Session | null>} */
async function untilKnown(setState, signal) {
  while (!signal.aborted) {
    try {
      return await readSession();
    } catch (error) {
      setState({ is: 'unknown', wait: messageOf(error) });
      await sleep(askAgainMs, signal);
    }
  }
  return null;
}

/** @type {(error: unknown) => string} */
const messageOf = (error) => (error instanceof ApiError ? error.message : String(error));

const root = /** @type {HTMLElement} */ (document.getElementById('app'));
root.replaceChildren();
render(html`<${App} />`, root);
