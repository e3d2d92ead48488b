import { useState } from '../vendor/hooks.js';
import { CopyButton, Facts, Reading, Section, Text, When } from '../parts/parts.js';
import { Replays } from '../deliveries/replay.js';
import { WorkButton } from '../parts/actions.js';
import { SubscriptionActions } from '../subscriptions/subscription-actions.js';
import { apiPath } from '../data/api-client.js';
import { shownState } from '../data/delivery-stats.js';
import { useMayWrite } from '../session.js';
import { useClient, useResource } from '../data/use-resource.js';
import { AccountHeading } from '../parts/account-parts.js';
import { Attempts, DeadLetters } from '../deliveries/attempts.js';
import { fullTime, number } from '../parts/format.js';
import { html } from '../html.js';
import { StateAdvice, StateBadge } from '../subscriptions/state-advice.js';

/** @import { Attempt, Page, Subscription } from '../../api-types.ts' */
/** @import { Resource } from '../data/use-resource.js' */

const refreshMs = 3000;

/**
 * One subscription: its state, actions, replays and attempts.
 * @param {{ account: string, id: string }} props
 */
export function SubscriptionPage({ account, id }) {
  const path = apiPath('accounts', account, 'subscriptions', id);
  const mayWrite = useMayWrite();
  const now = useClient().now();
  const [turn, setTurn] = useState(0);
  /** @type {Resource<Subscription>} */
  const reading = useResource(path, refreshMs);
  const { data: subscription, reload } = reading;
  /** @type {Resource<Page<Attempt>>} */
  const { data: latest } = useResource(`${path}/attempts?limit=50`, refreshMs);
  const attempts = latest?.items ?? [];
  const state = subscription === null ? '' : shownState(subscription, attempts, now);
  const replayed = () => {
    setTurn(turn + 1);
    reload();
  };
  return html`<${AccountHeading}
      account=${account}
      at="subscriptions"
      title=${subscription?.description || subscription?.url || id}
      below=${[]}
    >
      ${subscription !== null && html`<${StateBadge} state=${state} />`}
    <//>
    <${Reading}
      of=${reading}
      what="the subscription"
      show=${() =>
        html`<${StateAdvice} subscription=${subscription} state=${state} attempts=${attempts} now=${now} />
          ${
            mayWrite &&
            html`<${SubscriptionActions}
              subscription=${subscription}
              onChanged=${reload}
              onReplay=${replayed}
            />`
          }
          <${Settings} subscription=${subscription} onResumed=${mayWrite && reload} />
          <${Replays} path=${path} turn=${turn} />
          <${Section} title="Dead letters"><${DeadLetters} account=${account} id=${id} /><//>
          <${Section} title="Attempts"><${Attempts} account=${account} id=${id} /><//>`}
    />`;
}

/** @param {{ subscription: Subscription, onResumed: false | (() => void) }} props */
function Settings({ subscription, onResumed }) {
  const { account, id, url, eventTypes, statuses, states, filter, headers, expiresAt } = subscription;
  const { enabled, nextAttemptAt, previousSecretExpiresAt: oldUntil } = subscription;
  const client = useClient();
  const resume = async () => {
    await client.send('POST', apiPath('accounts', account, 'subscriptions', id, 'resume'));
    if (onResumed) onResumed();
  };
  const mayResume = enabled && nextAttemptAt !== null && onResumed;
  const tryNow = mayResume && html`<${WorkButton} work=${resume} what="try now">Try now<//>`;
  const words = (/** @type {string} */ text) => html`<${Text} value=${text} />`;
  const time = (/** @type {string} */ at) => fullTime(Date.parse(at));
  const name = html`<span class="code">${words(id)}</span> <${CopyButton} text=${id} what="the id" />`;
  return html`<${Facts}
    items=${[
      ['Endpoint', words(url), 'wide'],
      ['Pending deliveries', number(subscription.lag) + (subscription.throttled ? ', throttled' : '')],
      ['Failures in a row', number(subscription.consecutiveFailures)],
      ['Next retry', html`<${When} at=${nextAttemptAt} never="none" /> ${tryNow}`],
      ['Last success', html`<${When} at=${subscription.lastSuccessAt} />`],
      ['Events', words(eventTypes.join(', '))],
      ['Statuses', words(statuses?.join(', ') ?? 'all')],
      ['States', words(states?.join(', ') ?? 'all')],
      ['Filter', filter === null ? 'none' : html`${words(filter)}, ${subscription.undecided} undecided`],
      ['Format', `${subscription.format}, ${subscription.payload}`],
      ['Custom headers', words(Object.keys(headers).join(', ') || 'none')],
      ['Created', time(subscription.createdAt)],
      ['Expires', expiresAt === null ? 'never' : time(expiresAt)],
      ...(oldUntil === null ? [] : [['Old secret valid until', time(oldUntil)]]),
      ['Id', name, 'wide'],
    ]}
  />`;
}
