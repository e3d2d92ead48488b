import { useRef, useState } from '../../vendor/hooks.js';
import { ActionButton, useAction } from '../../actions/actions.js';
import { SecretField } from '../../actions/copy.js';
import { isAllBeside, useFocusOnFault } from '../../actions/fields.js';
import { apiPath } from '../../data/api-client.js';
import { useMayWrite } from '../../data/session-context.js';
import { useClient } from '../../data/use-resource.js';
import { AccountNav } from '../../parts/account-parts.js';
import { html } from '../../parts/html.js';
import { Failure, Heading, Notice, OnlyReading } from '../../parts/parts.js';
import { href } from '../../router.js';
import { newValues, registration } from '../../subscriptions/form-values.js';
import { shownFields, SubscriptionFields } from '../../subscriptions/subscription-fields.js';
import { testBeforeSaving } from '../../subscriptions/test-before-saving.js';
import { Warnings } from '../../subscriptions/warnings.js';
import { TestResult } from '../../subscriptions/test-result.js';

/** @import { PingAnswer, RegisteredSubscription } from '../../../api-types.ts' */
/** @import { FormValues } from '../../subscriptions/form-values.js' */

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
