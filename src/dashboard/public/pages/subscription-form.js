import { html, useMemo, useRef, useState } from '../html.js';
import { apiPath, useClient, useResource } from '../data/api.js';
import {
  isMoved,
  newSubscription,
  randomText,
  registration,
  subscriptionChange,
  subscriptionValues,
} from '../data/requests.js';
import { followUrl, isForPeople } from '../data/wishes.js';
import { AccountHeading } from '../parts/account-parts.js';
import { ActionButton, PageForm } from '../parts/forms.js';
import { ShownOnce } from '../parts/copying.js';
import { Notice, OnlyReading, whenRead } from '../parts/parts.js';
import { href } from '../router.js';
import { useMayWrite } from '../session.js';
import { TestResult, Warnings } from '../subscriptions/state-advice.js';
import { SubscriptionFields } from '../subscriptions/subscription-fields.js';

/** @import { ChangedSubscription, PingAnswer } from '../../api-types.ts' */
/** @import { RegisteredSubscription, Subscription } from '../../api-types.ts' */
/** @import { ApiClient, Resource } from '../data/api.js' */
/** @import { Action } from '../parts/forms.js' */
/** @import { SubscriptionValues } from '../data/requests.js' */

// The form keeps the subscription as it was when it was opened.
const onceMs = 3_600_000;
// Maximum characters of the name of a subscription that is tested before it is saved.
const nameMax = 400;

/**
 * A form that registers a subscription, after a test if one is wanted.
 * @param {{ account: string }} props
 */
export function NewSubscriptionPage({ account }) {
  const [made, setMade] = useState(/** @type {RegisteredSubscription | null} */ (null));
  const mayWrite = useMayWrite();
  return html`<${AccountHeading}
      account=${account}
      at="subscriptions"
      title=${made === null ? 'New subscription' : 'Subscription created'}
      below=${[]}
    />
    ${
      made === null
        ? html`<${mayWrite ? NewForm : OnlyReading} account=${account} onMade=${setMade} />`
        : html`<${Saved} saved=${made} to=${href('accounts', account, 'subscriptions', made.id)} isNew />`
    }`;
}

/** @param {{ account: string, onMade: (made: RegisteredSubscription) => void }} props */
function NewForm({ account, onMade }) {
  const client = useClient();
  const [values, setValues] = useState(newSubscription);
  const [ping, setPing] = useState(/** @type {PingAnswer | null} */ (null));
  // A key for each body: sent again after its answer was lost, it makes no second subscription.
  const key = useMemo(() => randomText(16), [JSON.stringify(values)]);
  const path = apiPath('accounts', account, 'subscriptions');
  const create = async () => {
    onMade(await client.send('POST', path, registration(values), { 'idempotency-key': key }));
  };
  const test = async () => {
    setPing(null);
    setPing(await testBeforeSaving(client, path, registration(values)));
  };
  return html`<${PageForm}
    values=${values}
    onChange=${(/** @type {SubscriptionValues} */ next) => setValues(followUrl(values, next))}
    save=${create}
    verb="Create subscription"
    what="create the subscription"
    cancel=${href('accounts', account, 'subscriptions')}
    more=${(/** @type {Action} */ action) =>
      html`<${ActionButton} action=${action} work=${test}>Send a test first<//>`}
    ><${SubscriptionFields} account=${account} isNew />
    ${ping !== null && html`<${TestResult} ping=${ping} />`}
  <//>`;
}

/**
 * Sends a test to the endpoint of a subscription that is not registered yet. It is registered disabled for as
 * long as the test takes and then deleted, so nothing is left behind; a page that is closed meanwhile leaves
 * a disabled subscription whose description says what it is.
 * @type {(client: ApiClient, path: string, body: Record<string, unknown>) => Promise<PingAnswer>}
 */
async function testBeforeSaving(client, path, body) {
  const name = typeof body['description'] === 'string' ? `${body['description'].slice(0, nameMax)}: ` : '';
  const description = `${name}test before saving, can be deleted`;
  const draft = { ...body, from: 'now', enabled: false, description };
  const { id } = await client.send('POST', path, draft);
  const draftPath = `${path}/${encodeURIComponent(id)}`;
  try {
    return await client.send('POST', `${draftPath}/test`);
  } finally {
    await client.send('DELETE', draftPath);
  }
}

/**
 * A form that changes the settings of a subscription.
 * @param {{ account: string, id: string }} props
 */
export function EditSubscriptionPage({ account, id }) {
  const path = apiPath('accounts', account, 'subscriptions', id);
  const [changed, setChanged] = useState(/** @type {ChangedSubscription | null} */ (null));
  /** @type {Resource<Subscription>} */
  const subscription = useResource(path, onceMs);
  const mayWrite = useMayWrite();
  const to = href('accounts', account, 'subscriptions', id);
  const done = (/** @type {ChangedSubscription | null} */ answer) => {
    const isPlain = answer?.dropped === undefined && (answer?.warnings ?? []).length === 0;
    if (answer === null || isPlain) location.hash = to;
    else setChanged(answer);
  };
  const show = (/** @type {Subscription} */ data) =>
    mayWrite
      ? html`<${EditForm} path=${path} subscription=${data} to=${to} onDone=${done} />`
      : html`<${OnlyReading} />`;
  const name = subscription.data?.description || subscription.data?.url || id;
  return html`<${AccountHeading}
      account=${account}
      at="subscriptions"
      title="Edit subscription"
      below=${[[name, to]]}
    />
    ${
      changed === null
        ? whenRead(subscription, 'the subscription', show)
        : html`<${Saved} saved=${changed} to=${to} />`
    }`;
}

/**
 * @param {{ path: string, subscription: Subscription, to: string, onDone: (answer: ChangedSubscription |
 * null) => void }} props
 */
function EditForm({ path, subscription, to, onDone }) {
  const client = useClient();
  const before = useRef(subscriptionValues(subscription)).current;
  const [values, setValues] = useState(before);
  const save = async () => {
    const body = subscriptionChange(before, values);
    onDone(Object.keys(body).length === 0 ? null : await client.send('PATCH', path, body));
  };
  return html`<${PageForm}
    values=${values}
    onChange=${(/** @type {SubscriptionValues} */ next) => setValues(followUrl(values, next))}
    save=${save}
    verb="Save"
    what="change the subscription"
    cancel=${to}
    ><${SubscriptionFields} account=${subscription.account} known=${Object.keys(subscription.headers)} />
    ${
      isMoved(before.url, values.url) &&
      html`<${Notice} tone="warn">
        The URL leads to another host. What was given for the former one is not taken along: custom headers
        that are not replaced are dropped, and unless you are the operator a new signing secret is made.
      <//>`
    }
  <//>`;
}

// A subscription that was saved, with the news for its receiver.
/**
 * @param {{ saved: ChangedSubscription | RegisteredSubscription, to: string, isNew?: boolean }} props
 */
function Saved({ saved, to, isNew = false }) {
  const { warnings } = saved;
  const secret = isForPeople(saved) ? null : saved.secret;
  const dropped = 'dropped' in saved ? (saved.dropped ?? []) : [];
  return html`${isNew && html`<${Notice} tone="good">Events are sent to the endpoint from now on.<//>`}
    ${
      dropped.length > 0 &&
      html`<${Notice} tone="warn">
        <p>The subscription is saved. Because the URL leads to another host, these were dropped:</p>
        <ul>
          ${
            dropped.includes('headers') &&
            html`<li>the custom headers: give them anew if the receiver expects them</li>`
          }
          ${
            dropped.includes('secret') &&
            html`<li>the signing secret: the receiver needs the new one below</li>`
          }
        </ul>
      <//>`
    }
    <${Warnings} warnings=${warnings} />
    ${
      secret &&
      html`<${ShownOnce}
        what="secret"
        label=${isNew ? 'Signing secret' : 'New signing secret'}
        value=${secret}
      >
        The receiver checks the signatures with it.
      <//>`
    }
    <div class="buttons"><a class="button" href=${to}>Open the subscription</a></div>`;
}
