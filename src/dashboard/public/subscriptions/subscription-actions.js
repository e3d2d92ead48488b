import { useState } from '../vendor/hooks.js';
import { html } from '../html.js';
import { apiPath } from '../data/api-client.js';
import { useClient } from '../data/use-resource.js';
import { ReplayButton } from '../deliveries/replay.js';
import { ActionButton, DialogButton, useAction } from '../parts/actions.js';
import { Select } from '../parts/fields.js';
import { counted, fullTime } from '../parts/format.js';
import { Failure, SecretField, ShownOnce } from '../parts/parts.js';
import { href } from '../router.js';
import { TestResult } from './state-advice.js';

/** @import { PingAnswer, Rotation, Subscription } from '../../api-types.ts' */

/**
 * The actions on a subscription, for users who may change it.
 * @param {{ subscription: Subscription, onChanged: () => void, onReplay: () => void }} props
 */
export function SubscriptionActions({ subscription, onChanged, onReplay }) {
  const client = useClient();
  const action = useAction();
  const [ping, setPing] = useState(/** @type {PingAnswer | null} */ (null));
  const { account, id, enabled, lag, url, description } = subscription;
  const path = apiPath('accounts', account, 'subscriptions', id);
  const pending = counted(lag, 'pending delivery', 'pending deliveries');

  const test = async () => {
    setPing(null);
    setPing(await client.send('POST', `${path}/test`));
  };
  const set = (/** @type {boolean} */ wanted) => async () => {
    await client.send('PATCH', path, { enabled: wanted });
    onChanged();
  };
  const remove = async () => {
    await client.send('DELETE', path);
    location.hash = href('accounts', account, 'subscriptions');
  };
  return html`<section aria-label="Actions">
    <div class="buttons">
      <${ActionButton} action=${action} work=${test}>Send a test<//>
      <a class="button" href=${href('accounts', account, 'subscriptions', id, 'edit')}>Edit</a>
      <${ReplayButton} path=${path} subscription=${subscription} onStarted=${onReplay} />
      <${RotateButton} path=${path} onDone=${onChanged} />
      ${
        enabled
          ? html`<${DialogButton}
              label="Disable …"
              title="Disable the subscription"
              verb="Disable"
              what="disable the subscription"
              kind="danger"
              work=${set(false)}
            >
              <p>
                The endpoint gets nothing until the subscription is enabled
                again${lag > 0 && `, ${pending} included`}. Its place in the log is kept: enabling it delivers
                what it missed, as far back as the log reaches.
              </p>
            <//>`
          : html`<${ActionButton} action=${action} work=${set(true)} kind="primary">Enable<//>`
      }
      <${DialogButton}
        label="Delete …"
        title="Delete the subscription"
        verb="Delete for good"
        what="delete the subscription"
        kind="danger"
        work=${remove}
      >
        <p>
          <bdi class="text">${description || url}</bdi> gets nothing more. This cannot be undone. Lost are:
        </p>
        <ul class="points">
          ${lag > 0 && html`<li><strong>${pending}</strong></li>`}
          <li>its attempts, dead letters and replays</li>
          <li>its signing secret and the values of its custom headers</li>
        </ul>
        <p>To stop it for a while only, disable it.</p>
      <//>
    </div>
    ${action.busy && html`<p class="loading" role="status">In progress …</p>`}
    <${Failure} error=${action.error} what="do that" />
    ${ping !== null && html`<${TestResult} ping=${ping} />`}
  </section>`;
}

const graces = [
  [0, 'no time: it has leaked'],
  [3_600_000, '1 hour'],
  [86_400_000, '24 hours'],
  [604_800_000, '7 days'],
];

// Gives a subscription a new secret and shows it once.
/** @param {{ path: string, onDone: () => void }} props */
function RotateButton({ path, onDone }) {
  const client = useClient();
  const rotate = async (/** @type {FormData} */ form) => {
    const body = { graceMs: Number(form.get('graceMs')) };
    /** @type {Rotation} */
    const rotation = await client.send('POST', `${path}/rotate-secret`, body);
    onDone();
    return { shown: newSecret(rotation) };
  };
  return html`<${DialogButton}
    label="Rotate the secret …"
    title="Rotate the secret"
    verb="Rotate"
    what="rotate the secret"
    work=${rotate}
  >
    <p>
      Requests are signed with a new secret at once, and with the old one as well for a while, so that the
      receiver can change over.
    </p>
    <${Select} name="graceMs" label="The old secret stays valid for" options=${graces} value=${86_400_000} />
  <//>`;
}

/** @type {(rotation: Rotation) => any} */
function newSecret({ secret, publicKeys, previousExpiresAt: until }) {
  return html`${
      secret
        ? html`<${ShownOnce} what="secret" label="New secret" value=${secret}>
            Give it to the receiver before you close this.
          <//>`
        : html`<${SecretField} label="New public key" value=${publicKeys?.[0]?.key} />`
    }
    <p class="quiet">
      ${
        until === null
          ? 'The old one is no longer valid.'
          : `Requests are signed with the old one as well until ${fullTime(Date.parse(until))}.`
      }
    </p>`;
}
