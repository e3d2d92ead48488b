import { useRef, useState } from '../../vendor/hooks.js';
import { ConfirmButton } from '../../actions/confirm.js';
import { apiPath } from '../../data/api-client.js';
import { useIsOperator, useMayWrite } from '../../data/session-context.js';
import { useClient, useResource } from '../../data/use-resource.js';
import { AccountNav } from '../../parts/account-parts.js';
import { duration } from '../../parts/format.js';
import { html } from '../../parts/html.js';
import { Facts, Failure, Heading, Loading, Text } from '../../parts/parts.js';
import { href } from '../../router.js';
import { AccountForm, CheckResult } from '../../settings/account-form.js';
import { accountChange, accountValues } from '../../settings/account-values.js';

/** @import { Account, SavedAccount } from '../../../api-types.ts' */
/** @import { Resource } from '../../data/use-resource.js' */

// The form keeps the account as it was when it was opened.
const onceMs = 3_600_000;

/**
 * The settings of an account; the operator changes them and deletes the account.
 * @param {{ account: string }} props
 */
export function SettingsPage({ account }) {
  const mayChange = useIsOperator() && useMayWrite();
  /** @type {Resource<Account>} */
  const { data, error } = useResource(apiPath('accounts', account), onceMs);
  return html`<${Heading} title="Settings" crumbs=${[[account, href('accounts', account)]]} />
    <${AccountNav} account=${account} at="settings" />
    <${Failure} error=${error} what="read the account" />
    ${data === null && error === null && html`<${Loading} what="the account" />`}
    ${data !== null && (mayChange ? html`<${Edit} settings=${data} />` : html`<${Shown} settings=${data} />`)}`;
}

/** @param {{ settings: Account }} props */
function Edit({ settings }) {
  const client = useClient();
  const before = useRef(accountValues(settings));
  const [values, setValues] = useState(before.current);
  const [saved, setSaved] = useState(/** @type {SavedAccount | null} */ (null));
  const save = async () => {
    setSaved(null);
    const body = accountChange(before.current, values);
    const answer = await client.send('PATCH', apiPath('accounts', settings.account), body);
    before.current = accountValues(answer);
    setValues(before.current);
    setSaved(answer);
  };
  return html`<${AccountForm}
      values=${values}
      onChange=${(/** @type {Partial<typeof values>} */ part) => setValues({ ...values, ...part })}
      save=${save}
      verb="Save"
      isNew=${false}
      cancel=${href('accounts', settings.account)}
    />
    ${saved !== null && html`<${CheckResult} check=${saved.check} />`}
    <${Delete} account=${settings.account} />`;
}

/** @param {{ account: string }} props */
function Delete({ account }) {
  const client = useClient();
  const remove = async () => {
    await client.send('DELETE', apiPath('accounts', account));
    location.hash = href();
  };
  return html`<section aria-labelledby="delete">
    <h2 id="delete">Delete the account</h2>
    <p>
      Polling stops, and its filings, events, subscriptions, pending deliveries and tokens are removed. The
      filings at the partner service stay as they are.
    </p>
    <${ConfirmButton}
      label="Delete the account …"
      title=${`Delete the account ${account}`}
      verb="Delete for good"
      what="delete the account"
      kind="danger"
      typed=${account}
      work=${remove}
    >
      <p>
        Everything that the daemon keeps of it is lost, also what is not delivered yet. This cannot be undone.
      </p>
    <//>
  </section>`;
}

/** @param {{ settings: Account }} props */
function Shown({ settings: { baseUrl, pollIntervalMs, sweepIntervalMs, stalledAfter } }) {
  const stalled = Object.entries(stalledAfter ?? {}).map(([status, span]) => `${status} ${span}`);
  return html`<p class="quiet">Only the operator changes these.</p>
    <${Facts}
      items=${[
        ['Partner service', html`<${Text} value=${baseUrl} />`, 'wide'],
        ['Polls every', duration(pollIntervalMs)],
        ['Sweeps every', duration(sweepIntervalMs)],
        ['Stalled after', html`<${Text} value=${stalled.join(', ') || 'no limit'} />`],
      ]}
    />`;
}
