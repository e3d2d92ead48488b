import { useRef, useState } from '../../vendor/hooks.js';
import { useAction } from '../../actions/actions.js';
import { SecretField } from '../../actions/copy.js';
import { isAllBeside, useFocusOnFault } from '../../actions/fields.js';
import { apiPath } from '../../data/api-client.js';
import { useMayWrite } from '../../data/session-context.js';
import { useClient, useResource } from '../../data/use-resource.js';
import { AccountNav } from '../../parts/account-parts.js';
import { html } from '../../parts/html.js';
import { Failure, Heading, Loading, Notice, OnlyReading } from '../../parts/parts.js';
import { href } from '../../router.js';
import { change, isMoved, valuesOf } from '../../subscriptions/form-values.js';
import { Warnings } from '../../subscriptions/warnings.js';
import { shownFields, SubscriptionFields } from '../../subscriptions/subscription-fields.js';

/** @import { ChangedSubscription, Subscription } from '../../../api-types.ts' */
/** @import { Resource } from '../../data/use-resource.js' */
/** @import { FormValues } from '../../subscriptions/form-values.js' */

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
