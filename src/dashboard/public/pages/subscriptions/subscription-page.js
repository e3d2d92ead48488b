import { AccountNav } from '../../parts/account-parts.js';
import { apiPath } from '../../data/api-client.js';
import { Attempts, DeadLetters } from '../../parts/deliveries.js';
import { number } from '../../parts/format.js';
import { html } from '../../parts/html.js';
import { Badge, Facts, Failure, Heading, Loading, Text, When } from '../../parts/parts.js';
import { href } from '../../router.js';
import { SubscriptionActions } from '../../actions/subscription-actions.js';
import { useResource } from '../../data/use-resource.js';

/** @import { Subscription } from '../../data/api-types.d.ts' */
/** @import { Resource } from '../../data/use-resource.js' */

const refreshMs = 3000;

/**
 * One subscription: its state, actions and attempts.
 * @param {{ account: string, id: string }} props
 */
export function SubscriptionPage({ account, id }) {
  const path = apiPath('accounts', account, 'subscriptions', id);
  /** @type {Resource<Subscription>} */
  const { data: subscription, error, reload } = useResource(path, refreshMs);
  const crumbs = [
    [account, href('accounts', account)],
    ['Subscriptions', href('accounts', account, 'subscriptions')],
  ];
  return html`<${Heading} title=${subscription?.description || subscription?.url || id} crumbs=${crumbs} />
    <${AccountNav} account=${account} at="subscriptions" />
    <${Failure} error=${error} what="read the subscription" />
    ${subscription === null && error === null && html`<${Loading} what="the subscription" />`}
    ${
      subscription !== null &&
      html`<${State} subscription=${subscription} />
        <${SubscriptionActions} subscription=${subscription} onChanged=${reload} />
        <section aria-labelledby="dead-letters">
          <h2 id="dead-letters">Dead letters</h2>
          <${DeadLetters} account=${account} id=${id} />
        </section>
        <section aria-labelledby="attempts">
          <h2 id="attempts">Attempts</h2>
          <${Attempts} account=${account} id=${id} />
        </section>`
    }`;
}

/** @param {{ subscription: Subscription }} props */
function State({ subscription }) {
  return html`<${StateAdvice} subscription=${subscription} />
    <${Facts}
      items=${[
        ['State', html`<${Badge} word=${subscription.state} />`],
        ['Lag', `${number(subscription.lag)} ${subscription.lag === 1 ? 'event' : 'events'}`],
        ['Failures in a row', number(subscription.consecutiveFailures)],
        ['Next attempt', html`<${When} at=${subscription.nextAttemptAt} never="none due" />`],
        ['Last success', html`<${When} at=${subscription.lastSuccessAt} />`],
        ['Events', html`<${Text} value=${subscription.eventTypes.join(', ')} />`],
        ['States', html`<${Text} value=${subscription.states?.join(', ') ?? 'all'} />`],
        ['Format', `${subscription.format}, ${subscription.payload}`],
        ['Called', html`<${Text} value=${subscription.url} />`, 'wide'],
        ...oldSecret(subscription),
      ]}
    />`;
}

/** @type {(subscription: Subscription) => [name: string, value: unknown][]} */
const oldSecret = ({ previousSecretExpiresAt: at }) =>
  at === null ? [] : [['Old secret ends', html`<${When} at=${at} />`]];

/** @param {{ subscription: Subscription }} props */
function StateAdvice({ subscription: { state, disabledReason, unreadable, lastError, lag } }) {
  const obstacle = unreadable ?? lastError;
  if (obstacle !== null)
    return html`<p class="notice warn">Nothing can be sent: <${Text} value=${obstacle} /></p>`;
  if (state === 'active') return null;
  if (state === 'disabled') {
    return html`<p class="notice warn">
      It is disabled, so nothing is sent.
      ${disabledReason !== null && html`Reason: <${Text} value=${disabledReason} />.`} Its place in the log is
      kept; enabling it sends what it missed.
    </p>`;
  }
  return html`<p class="notice warn">
    The endpoint does not acknowledge. The attempts below say why.
    ${
      lag === 0
        ? ' What it did not take was given up and is among the dead letters; the next event tries it again.'
        : ' It is tried again by itself; what is given up is kept as dead letters.'
    }
  </p>`;
}
