import { useState } from '../vendor/hooks.js';
import { ActionButton, useAction, ConfirmButton, Dialog, DialogForm } from '../parts/actions.js';
import { ReplayButton } from '../deliveries/replay.js';
import { apiPath } from '../data/api-client.js';
import { useClient } from '../data/use-resource.js';
import { number, fullTime } from '../parts/format.js';
import { html } from '../html.js';
import { Failure, SecretField } from '../parts/parts.js';
import { href } from '../router.js';
import { TestResult } from './state-advice.js';

/** @import { PingAnswer, Subscription, Rotation } from '../../api-types.ts' */

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

/**
 * Gives a subscription a new secret and shows it once.
 * @param {{ path: string, onDone: () => void }} props `path`: of the subscription
 */
export function RotateButton({ path, onDone }) {
  const client = useClient();
  const action = useAction();
  const [open, setOpen] = useState(false);
  const [rotation, setRotation] = useState(/** @type {Rotation | null} */ (null));
  const rotate = async (/** @type {FormData} */ form) => {
    setRotation(await client.send('POST', `${path}/rotate-secret`, { graceMs: Number(form.get('graceMs')) }));
    onDone();
  };
  const close = () => {
    setOpen(false);
    setRotation(null);
  };
  return html`<button type="button" onClick=${() => setOpen(true)}>Rotate the secret …</button>
    <${Dialog} title="Rotate the secret" open=${open} onClose=${close}>
      ${
        rotation === null
          ? html`<${DialogForm}
              action=${action}
              work=${rotate}
              verb="Rotate"
              what="rotate the secret"
              onCancel=${close}
            >
              <p>
                Requests are signed with a new secret at once, and with the old one as well for a while, so
                that the receiver can change over.
              </p>
              <label
                >The old secret stays valid for
                <select name="graceMs">
                  <option value="0">no time: it has leaked</option>
                  <option value="3600000">1 hour</option>
                  <option value="86400000" selected>24 hours</option>
                  <option value="604800000">7 days</option>
                </select>
              </label>
            <//>`
          : html`<${NewSecret} rotation=${rotation} onClose=${close} />`
      }
    <//>`;
}

/** @param {{ rotation: Rotation, onClose: () => void }} props */
function NewSecret({ rotation: { secret, publicKeys, previousExpiresAt }, onClose }) {
  return html`${
      secret &&
      html`<p role="status">
        <strong>This secret is shown only now.</strong> Give it to the receiver before you close this.
      </p>`
    }
    <${SecretField}
      label=${`New ${secret ? 'secret' : 'public key'}`}
      value=${secret ?? publicKeys?.[0]?.key}
    />
    <p class="quiet">
      ${
        previousExpiresAt === null
          ? 'The old one is no longer valid.'
          : html`Requests are signed with the old one as well until
            ${fullTime(Date.parse(previousExpiresAt))}.`
      }
    </p>
    <div class="buttons">
      <button type="button" onClick=${onClose}>Close</button>
    </div>`;
}
