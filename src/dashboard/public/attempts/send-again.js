import { useState } from '../vendor/hooks.js';
import { ActionButton, useAction } from '../actions/actions.js';
import { ReplayProgress } from '../actions/replay-progress.js';
import { apiPath } from '../data/api-client.js';
import { useClient } from '../data/use-resource.js';
import { html } from '../parts/html.js';
import { Failure } from '../parts/parts.js';

/** @import { AttemptDetails } from '../../api-types.ts' */

/**
 * Delivers the event of an attempt once more to the same endpoint.
 * @param {{ account: string, attempt: AttemptDetails }} props
 */
export function SendAgain({ account, attempt: { subscription, eventId, eventType } }) {
  const client = useClient();
  const action = useAction();
  const [started, setStarted] = useState(/** @type {{ id: string, matched: number } | null} */ (null));
  // A test is in no log.
  if (eventType === 'ping') return null;
  const send = async () => {
    const path = apiPath('accounts', account, 'subscriptions', subscription, 'replay');
    setStarted(await client.send('POST', path, { eventIds: [eventId] }));
  };
  return html`<div class="buttons">
      <${ActionButton} action=${action} work=${send} kind="primary">Send again<//>
    </div>
    <${Failure} error=${action.error} what="send it again" />
    ${
      started !== null && html`<${ReplayProgress} key=${started.id} account=${account} started=${started} />`
    }`;
}
