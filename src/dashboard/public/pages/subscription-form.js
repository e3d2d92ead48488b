import { useRef, useState } from '../vendor/hooks.js';
import { ActionButton, useAction } from '../parts/actions.js';
import { SecretField, Failure, Heading, Notice, OnlyReading, Loading } from '../parts/parts.js';
import { isAllBeside, useFocusOnFault } from '../parts/fields.js';
import { apiPath } from '../data/api-client.js';
import { useMayWrite } from '../session.js';
import { useClient, useResource } from '../data/use-resource.js';
import { AccountNav } from '../parts/account-parts.js';
import { html } from '../html.js';
import { href } from '../router.js';
import { newValues, registration, change, isMoved, valuesOf } from '../subscriptions/form-values.js';
import { shownFields, SubscriptionFields } from '../subscriptions/subscription-fields.js';
import { Warnings, TestResult } from '../subscriptions/state-advice.js';

/** @import { PingAnswer, RegisteredSubscription, ChangedSubscription } from '../../api-types.ts' */
/** @import { Subscription } from '../../api-types.ts' */
/** @import { FormValues } from '../subscriptions/form-values.js' */
/** @import { Resource } from '../data/use-resource.js' */
/** @import { ApiClient } from '../data/api-client.js' */

/**
 * A form that registers a subscription, after a test if one is wanted.
 * @param {{ account: string }} props
 */
export function NewSubscriptionPage({ account }) {
  const [made, setMade] = useState(/** @type {RegisteredSubscription | null} */ (null));
  const mayWrite = useMayWrite();
  const list = href('accounts', account, 'subscriptions');
  return html`<${Heading}
      title=${made === null ? 'New subscription' : 'Subscription created'}
      crumbs=${[
        [account, href('accounts', account)],
        ['Subscriptions', list],
      ]}
    />
    <${AccountNav} account=${account} at="subscriptions" />
    ${
      made === null
        ? html`<${mayWrite ? NewForm : OnlyReading} account=${account} onMade=${setMade} />`
        : html`<${Made} account=${account} subscription=${made} />`
    }`;
}

/** @param {{ account: string, onMade: (made: RegisteredSubscription) => void }} props */
function NewForm({ account, onMade }) {
  const client = useClient();
  const action = useAction();
  const form = useRef(/** @type {HTMLFormElement | null} */ (null));
  const [values, setValues] = useState(newValues);
  const [ping, setPing] = useState(/** @type {PingAnswer | null} */ (null));
  const keyOf = useIdempotencyKey();
  const path = apiPath('accounts', account, 'subscriptions');
  useFocusOnFault(action.error, form);

  const create = async () => {
    const body = registration(values);
    onMade(await client.send('POST', path, body, { 'idempotency-key': keyOf(JSON.stringify(body)) }));
  };
  const test = async () => {
    setPing(null);
    setPing(await testBeforeSaving(client, path, registration(values)));
  };
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    action.run(create);
  };
  return html`<form class="form" ref=${form} onSubmit=${submit}>
    <${SubscriptionFields}
      account=${account}
      values=${values}
      onChange=${(/** @type {Partial<FormValues>} */ part) => setValues({ ...values, ...part })}
      error=${action.error}
      isNew=${true}
    />
    ${ping !== null && html`<${TestResult} ping=${ping} />`}
    ${
      isAllBeside(action.error, shownFields)
        ? html`<p class="notice bad" role="alert">Nothing was created: see the fields above.</p>`
        : html`<${Failure} error=${action.error} what="create the subscription" />`
    }
    <div class="buttons">
      <button type="submit" class="primary" aria-disabled=${action.busy}>Create subscription</button>
      <${ActionButton} action=${action} work=${test}>Send a test first<//>
      <a href=${href('accounts', account, 'subscriptions')}>Cancel</a>
      ${action.busy && html`<span class="loading" role="status">In progress …</span>`}
    </div>
  </form>`;
}

/** @param {{ account: string, subscription: RegisteredSubscription }} props */
function Made({ account, subscription: { id, secret, warnings } }) {
  return html`<${Notice} tone="good">
      <p>Events are sent to the endpoint from now on.</p>
      <p>
        <strong>The signing secret is shown only now.</strong> The receiver checks the signatures with it.
      </p>
    <//>
    <${Warnings} warnings=${warnings} />
    <${SecretField} label="Signing secret" value=${secret} />
    <div class="buttons">
      <a class="button" href=${href('accounts', account, 'subscriptions', id)}>Open the subscription</a>
    </div>`;
}

// A key for each request, so that one whose answer was lost can be sent again without a second subscription.
/** @returns {(body: string) => string} */
function useIdempotencyKey() {
  const last = useRef({ body: '', key: '' });
  return (body) => {
    if (last.current.body !== body) {
      const bytes = crypto.getRandomValues(new Uint8Array(16));
      last.current = { body, key: [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('') };
    }
    return last.current.key;
  };
}

// The form keeps the subscription as it was when it was opened.
const onceMs = 3_600_000;

/**
 * A form that changes the settings of a subscription.
 * @param {{ account: string, id: string }} props
 */
export function EditSubscriptionPage({ account, id }) {
  const path = apiPath('accounts', account, 'subscriptions', id);
  const [changed, setChanged] = useState(/** @type {ChangedSubscription | null} */ (null));
  /** @type {Resource<Subscription>} */
  const { data: subscription, error } = useResource(path, onceMs);
  const mayWrite = useMayWrite();
  const to = href('accounts', account, 'subscriptions', id);
  const done = (/** @type {ChangedSubscription | null} */ answer) => {
    const isPlain = answer?.dropped === undefined && (answer?.warnings ?? []).length === 0;
    if (answer === null || isPlain) location.hash = to;
    else setChanged(answer);
  };
  return html`<${Heading}
      title="Edit subscription"
      crumbs=${[
        [account, href('accounts', account)],
        ['Subscriptions', href('accounts', account, 'subscriptions')],
        [subscription?.description || subscription?.url || id, to],
      ]}
    />
    <${AccountNav} account=${account} at="subscriptions" />
    <${Failure} error=${error} what="read the subscription" />
    ${subscription === null && error === null && html`<${Loading} what="the subscription" />`}
    ${changed !== null && html`<${Saved} changed=${changed} to=${to} />`}
    ${
      subscription !== null &&
      changed === null &&
      html`<${mayWrite ? EditForm : OnlyReading}
        path=${path}
        subscription=${subscription}
        to=${to}
        onDone=${done}
      />`
    }`;
}

/**
 * @param {{ path: string, subscription: Subscription, to: string, onDone: (answer: ChangedSubscription |
 * null) => void }} props
 */
function EditForm({ path, subscription, to, onDone }) {
  const client = useClient();
  const action = useAction();
  const form = useRef(/** @type {HTMLFormElement | null} */ (null));
  const before = useRef(valuesOf(subscription)).current;
  const [values, setValues] = useState(before);
  const known = Object.keys(subscription.headers);
  useFocusOnFault(action.error, form);

  const save = async () => {
    const body = change(before, values);
    onDone(Object.keys(body).length === 0 ? null : await client.send('PATCH', path, body));
  };
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    action.run(save);
  };
  return html`<form class="form" ref=${form} onSubmit=${submit}>
    <${SubscriptionFields}
      account=${subscription.account}
      values=${values}
      onChange=${(/** @type {Partial<FormValues>} */ part) => setValues({ ...values, ...part })}
      error=${action.error}
      known=${known}
      isNew=${false}
    />
    ${
      isMoved(before.url, values.url) &&
      html`<${Notice} tone="warn">
        The URL leads to another host. What was given for the former one is not taken along: custom headers
        that are not replaced are dropped, and unless you are the operator a new signing secret is made.
      <//>`
    }
    ${
      isAllBeside(action.error, shownFields)
        ? html`<p class="notice bad" role="alert">Nothing was changed: see the fields above.</p>`
        : html`<${Failure} error=${action.error} what="change the subscription" />`
    }
    <div class="buttons">
      <button type="submit" class="primary" aria-disabled=${action.busy}>Save</button>
      <a href=${to}>Cancel</a>
    </div>
  </form>`;
}

/** @param {{ changed: ChangedSubscription, to: string }} props */
function Saved({ changed: { dropped = [], secret, warnings }, to }) {
  return html`${
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
      html`<p role="status"><strong>This secret is shown only now.</strong></p>
        <${SecretField} label="New signing secret" value=${secret} />`
    }
    <div class="buttons"><a class="button" href=${to}>Open the subscription</a></div>`;
}

/**
 * Sends a test to the endpoint of a subscription that is not registered yet. It is registered disabled for as
 * long as the test takes and then deleted, so nothing is left behind; a page that is closed meanwhile leaves
 * a disabled subscription whose description says what it is. Rejects with ApiError.
 * @param {ApiClient} client
 * @param {string} path of the subscriptions
 * @param {Record<string, unknown>} body of the registration
 * @returns {Promise<PingAnswer>}
 */
export async function testBeforeSaving(client, path, body) {
  const draft = { ...body, from: 'now', enabled: false, description: 'Test before saving; can be deleted' };
  const { id } = await client.send('POST', path, draft);
  const draftPath = `${path}/${encodeURIComponent(id)}`;
  try {
    return await client.send('POST', `${draftPath}/test`);
  } finally {
    await client.send('DELETE', draftPath);
  }
}
