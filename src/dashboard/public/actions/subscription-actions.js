import { useState } from '../vendor/hooks.js';
import { ActionButton, useAction } from './actions.js';
import { ConfirmButton } from './confirm.js';
import { ReplayButton } from './replay.js';
import { RotateButton } from './rotate-secret.js';
import { apiPath } from '../data/api-client.js';
import { useClient } from '../data/use-resource.js';
import { number } from '../parts/format.js';
import { html } from '../parts/html.js';
import { Failure } from '../parts/parts.js';
import { href } from '../router.js';
import { TestResult } from '../subscriptions/test-result.js';

/** @import { PingAnswer, Subscription } from '../../api-types.ts' */

/**
 * The actions on a subscription, for users who may change it.
 * @param {{ subscription: Subscription, onChanged: () => void, onReplay: () => void }} props
 */
export function SubscriptionActions({ subscription, onChanged, onReplay }) {
  const client = useClient();
  const action = useAction();
  const [ping, setPing] = useState(/** @type {PingAnswer | null} */ (null));
  const { account, id, enabled } = subscription;
  const path = apiPath('accounts', account, 'subscriptions', id);

  const test = async () => {
    setPing(null);
    setPing(await client.send('POST', `${path}/test`));
  };
  const set = (/** @type {boolean} */ wanted) => async () => {
    await client.send('PATCH', path, { enabled: wanted });
    onChanged();
  };
  return html`<section aria-label="Actions">
    <div class="buttons">
      <${ActionButton} action=${action} work=${test}>Send a test<//>
      <a class="button" href=${href('accounts', account, 'subscriptions', id, 'edit')}>Edit</a>
      <${ReplayButton} path=${path} subscription=${subscription} onStarted=${onReplay} />
      <${RotateButton} path=${path} onDone=${onChanged} />
      ${
        enabled
          ? html`<${Disable} subscription=${subscription} work=${set(false)} />`
          : html`<${ActionButton} action=${action} work=${set(true)} kind="primary">Enable<//>`
      }
      <${Delete} subscription=${subscription} path=${path} />
    </div>
    ${action.busy && html`<p class="loading" role="status">In progress …</p>`}
    <${Failure} error=${action.error} what="do that" />
    ${ping !== null && html`<${TestResult} ping=${ping} />`}
  </section>`;
}

/** @param {{ subscription: Subscription, work: () => Promise<void> }} props */
function Disable({ subscription: { lag }, work }) {
  return html`<${ConfirmButton}
    label="Disable …"
    title="Disable the subscription"
    verb="Disable"
    what="disable the subscription"
    kind="danger"
    work=${work}
  >
    <p>
      The endpoint gets nothing until the subscription is enabled
      again${lag > 0 && html`, ${number(lag)} pending ${lag === 1 ? 'delivery' : 'deliveries'} included`}. Its
      place in the log is kept: enabling it delivers what it missed, as far back as the log reaches.
    </p>
  <//>`;
}

/** @param {{ subscription: Subscription, path: string }} props */
function Delete({ subscription: { account, lag, url, description }, path }) {
  const client = useClient();
  const remove = async () => {
    await client.send('DELETE', path);
    location.hash = href('accounts', account, 'subscriptions');
  };
  return html`<${ConfirmButton}
    label="Delete …"
    title="Delete the subscription"
    verb="Delete for good"
    what="delete the subscription"
    kind="danger"
    work=${remove}
  >
    <p><bdi class="text">${description || url}</bdi> gets nothing more. This cannot be undone. Lost are:</p>
    <ul class="lost">
      ${lag > 0 && html`<li><strong>${number(lag)} pending ${lag === 1 ? 'delivery' : 'deliveries'}</strong></li>`}
      <li>its attempts, dead letters and replays</li>
      <li>its signing secret and the values of its custom headers</li>
    </ul>
    <p>To stop it for a while only, disable it.</p>
  <//>`;
}
