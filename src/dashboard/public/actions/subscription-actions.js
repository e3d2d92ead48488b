import { useState } from '../vendor/hooks.js';
import { ActionButton, useAction } from './actions.js';
import { apiPath } from '../data/api-client.js';
import { duration } from '../parts/format.js';
import { html } from '../parts/html.js';
import { Badge, Failure, Notice, Text } from '../parts/parts.js';
import { ReplayButton } from './replay.js';
import { RotateButton } from './rotate-secret.js';
import { useClient } from '../data/use-resource.js';

/** @import { PingAnswer, Subscription } from '../data/api-types.d.ts' */

/**
 * The actions of an operator on a subscription.
 * @param {{ subscription: Subscription, onChanged: () => void }} props
 */
export function SubscriptionActions({ subscription, onChanged }) {
  const client = useClient();
  const action = useAction();
  const [ping, setPing] = useState(/** @type {PingAnswer | null} */ (null));
  const path = apiPath('accounts', subscription.account, 'subscriptions', subscription.id);

  const test = async () => {
    setPing(null);
    setPing(await client.send('POST', `${path}/test`));
  };
  const enable = async () => {
    await client.send('PATCH', path, { enabled: !subscription.enabled });
    onChanged();
  };
  return html`<section aria-label="Actions">
    <div class="buttons">
      <${ActionButton} action=${action} work=${test}>Send a test<//>
      <${ReplayButton} path=${path} account=${subscription.account} onDone=${onChanged} />
      <${RotateButton} path=${path} onDone=${onChanged} />
      <${ActionButton} action=${action} work=${enable} kind=${subscription.enabled ? 'danger' : 'primary'}
        >${subscription.enabled ? 'Disable' : 'Enable'}<//
      >
    </div>
    ${action.busy && html`<p class="loading" role="status">Under way …</p>`}
    <${Failure} error=${action.error} what="do that" />
    ${ping !== null && html`<${PingResult} ping=${ping} />`}
  </section>`;
}

/** @param {{ ping: PingAnswer }} props */
function PingResult({ ping: { outcome, reason, statusCode, durationMs, response } }) {
  const good = outcome === 'delivered';
  const answer = `${statusCode === null ? 'without an answer' : `with status ${statusCode}`} after ${duration(durationMs)}`;
  return html`<${Notice} tone=${good ? 'good' : 'bad'}>
    <p>
      Test: <${Badge} word=${outcome} tone=${good ? 'good' : 'bad'} /> ${answer}.
      ${reason !== null && html`<${Text} value=${reason} />`}
    </p>
    ${response && html`<pre tabindex="0"><bdi>${response}</bdi></pre>`}
  <//>`;
}
