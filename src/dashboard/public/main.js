import { render } from './vendor/preact.js';
import { useCallback, useMemo, useState } from './vendor/hooks.js';
import { createApiClient } from './data/api-client.js';
import { html } from './parts/html.js';
import { Layout } from './parts/layout.js';
import { Pages } from './pages.js';
import { keepSession, restoreSession } from './session.js';
import { SignIn } from './pages/sign-in.js';
import { ClientContext } from './data/use-resource.js';

/** @import { Session } from './session.js' */

function App() {
  const [session, setSession] = useState(restoreSession);
  const [notice, setNotice] = useState(/** @type {string | null} */ (null));

  const enter = useCallback((/** @type {Session} */ entered) => {
    keepSession(entered);
    setNotice(null);
    setSession(entered);
  }, []);
  const leave = useCallback((/** @type {string | null} */ why) => {
    keepSession(null);
    setNotice(why);
    setSession(null);
  }, []);
  const client = useMemo(
    () =>
      createApiClient(session?.token ?? '', () =>
        leave('The token is no longer valid. Sign in with another one.'),
      ),
    [session, leave],
  );

  if (session === null) return html`<${SignIn} notice=${notice} onSignedIn=${enter} />`;
  return html`<${ClientContext.Provider} value=${client}>
    <${Layout} session=${session} onSignOut=${() => leave(null)}><${Pages} session=${session} /><//>
  <//>`;
}

const root = /** @type {HTMLElement} */ (document.getElementById('app'));
root.replaceChildren();
render(html`<${App} />`, root);
