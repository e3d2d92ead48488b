import { html, useState } from '../html.js';
import { CopyButton, SecretField, ShownOnce } from '../parts/copying.js';
import { At, Badge, Facts, Failure, Section, Text, When, whenRead } from '../parts/parts.js';
import { ReplayButton, Replays } from '../deliveries/replay.js';
import { ActionButton, DialogButton, Select, useAction, WorkButton } from '../parts/forms.js';
import { apiPath, useClient, useResource } from '../data/api.js';
import { shownState } from '../data/delivery-stats.js';
import { formatOfUrl } from '../data/wishes.js';
import { useMayWrite } from '../session.js';
import { AccountHeading } from '../parts/account-parts.js';
import { Attempts, DeadLetters } from '../deliveries/attempts.js';
import { counted, fullTime, number } from '../parts/format.js';
import { StateAdvice, TestResult } from '../subscriptions/state-advice.js';
import { href } from '../router.js';

/** @import { Attempt, Page, PingAnswer, Rotation, Subscription } from '../../api-types.ts' */
/** @import { Resource } from '../data/api.js' */

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
  const show = (/** @type {Subscription} */ known) =>
    html`<${StateAdvice} subscription=${known} state=${state} attempts=${attempts} now=${now} />
      ${mayWrite && html`<${SubscriptionActions} subscription=${known} onChanged=${reload} onReplay=${replayed} />`}
      <${Settings} subscription=${known} onResumed=${mayWrite && reload} />
      <${Replays} path=${path} turn=${turn} />
      <${Section} title="Dead letters"><${DeadLetters} account=${account} id=${id} /><//>
      <${Section} title="Attempts"><${Attempts} account=${account} id=${id} /><//>`;
  return html`<${AccountHeading}
      account=${account}
      at="subscriptions"
      title=${subscription?.description || subscription?.url || id}
      below=${[]}
    >
      ${subscription !== null && html`<${Badge} word=${state} />`}
    <//>
    ${whenRead(reading, 'the subscription', show)}`;
}

/** @param {{ subscription: Subscription, onResumed: false | (() => void) }} props */
function Settings({ subscription, onResumed }) {
  const { account, id, url, eventTypes, statuses, states, filter, headers, expiresAt } = subscription;
  const { enabled, nextAttemptAt, notBefore, previousSecretExpiresAt: oldUntil } = subscription;
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
      notBefore !== null && [
        'Nothing is sent',
        html`${notBefore.reason}${notBefore.at && html`, until <${At} at=${notBefore.at} />`}`,
      ],
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
      oldUntil !== null && ['Old secret valid until', time(oldUntil)],
      ['Id', name, 'wide'],
    ]}
  />`;
}

/**
 * The actions on a subscription, for users who may change it.
 * @param {{ subscription: Subscription, onChanged: () => void, onReplay: () => void }} props
 */
function SubscriptionActions({ subscription, onChanged, onReplay }) {
  const client = useClient();
  const action = useAction();
  const [ping, setPing] = useState(/** @type {PingAnswer | null} */ (null));
  const { account, id, enabled, lag, url, description } = subscription;
  const path = apiPath('accounts', account, 'subscriptions', id);
  const pending = counted(lag, 'pending delivery', 'pending deliveries');
  const isMail = formatOfUrl(url) === 'email';

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
      ${!isMail && html`<${RotateButton} path=${path} onDone=${onChanged} />`}
      ${
        enabled
          ? html`<${DialogButton}
              label="Disable …"
              title="Disable the subscription"
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
        kind="danger"
        work=${remove}
      >
        <p>
          <bdi class="text">${description || url}</bdi> gets nothing more. This cannot be undone. Lost are:
        </p>
        <ul class="points">
          ${lag > 0 && html`<li><strong>${pending}</strong></li>`}
          <li>its attempts, dead letters and replays</li>
          ${!isMail && html`<li>its signing secret and the values of its custom headers</li>`}
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
  return html`<${DialogButton} label="Rotate the secret …" work=${rotate}>
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
