import { useState } from '../vendor/hooks.js';
import { CopyButton, Facts, Failure, Reading, Text, When } from '../parts/parts.js';
import { Replays } from '../deliveries/replay.js';
import { ActionButton, useAction } from '../parts/actions.js';
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
          <section aria-labelledby="dead-letters">
            <h2 id="dead-letters">Dead letters</h2>
            <${DeadLetters} account=${account} id=${id} />
          </section>
          <section aria-labelledby="attempts">
            <h2 id="attempts">Attempts</h2>
            <${Attempts} account=${account} id=${id} />
          </section>`}
    />`;
}

/** @param {{ subscription: Subscription, onResumed: false | (() => void) }} props */
function Settings({ subscription, onResumed }) {
  const { id, url, eventTypes, statuses, states, filter, headers, format, payload, createdAt, expiresAt } =
    subscription;
  return html`<${Facts}
    items=${[
      ['Endpoint', html`<${Text} value=${url} />`, 'wide'],
      ['Pending deliveries', number(subscription.lag) + (subscription.throttled ? ', throttled' : '')],
      ['Failures in a row', number(subscription.consecutiveFailures)],
      [
        'Next retry',
        html`<${When} at=${subscription.nextAttemptAt} never="none" /> ${
            subscription.enabled &&
            subscription.nextAttemptAt !== null &&
            onResumed &&
            html`<${TryNow} subscription=${subscription} onResumed=${onResumed} />`
          }`,
      ],
      ['Last success', html`<${When} at=${subscription.lastSuccessAt} />`],
      ['Events', html`<${Text} value=${eventTypes.join(', ')} />`],
      ['Statuses', html`<${Text} value=${statuses?.join(', ') ?? 'all'} />`],
      ['States', html`<${Text} value=${states?.join(', ') ?? 'all'} />`],
      [
        'Filter',
        filter === null ? 'none' : html`<${Text} value=${filter} />, ${subscription.undecided} undecided`,
      ],
      ['Format', `${format}, ${payload}`],
      ['Custom headers', html`<${Text} value=${Object.keys(headers).join(', ') || 'none'} />`],
      ['Created', fullTime(Date.parse(createdAt))],
      ['Expires', expiresAt === null ? 'never' : fullTime(Date.parse(expiresAt))],
      ...oldSecret(subscription),
      [
        'Id',
        html`<span class="code"><${Text} value=${id} /></span> <${CopyButton} text=${id} what="the id" />`,
        'wide',
      ],
    ]}
  />`;
}

/** @param {{ subscription: Subscription, onResumed: () => void }} props */
function TryNow({ subscription: { account, id }, onResumed }) {
  const client = useClient();
  const action = useAction();
  const resume = async () => {
    await client.send('POST', apiPath('accounts', account, 'subscriptions', id, 'resume'));
    onResumed();
  };
  return html`<${ActionButton} action=${action} work=${resume}>Try now<//>
    <${Failure} error=${action.error} what="try now" />`;
}

/** @type {(subscription: Subscription) => [name: string, value: unknown][]} */
const oldSecret = ({ previousSecretExpiresAt: at }) =>
  at === null ? [] : [['Old secret valid until', fullTime(Date.parse(at))]];
