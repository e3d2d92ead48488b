import { html, useRef, useState } from '../html.js';
import { limitedStatuses } from '../catalogue.js';
import { ApiError, apiPath, useClient, useResource } from '../data/api.js';
import { accountChange, accountInput, accountValues, newAccount } from '../data/requests.js';
import { AccountHeading } from '../parts/account-parts.js';
import { DialogButton, Field, Group, PageForm, Tick, useForm, valueOf } from '../parts/forms.js';
import { Heading, Notice, Section, Text, whenRead } from '../parts/parts.js';
import { href } from '../router.js';
import { useIsOperator, useMayWrite } from '../session.js';

/** @import { Account, SavedAccount } from '../../api-types.ts' */
/** @import { ApiClient, Resource } from '../data/api.js' */
/** @import { AccountValues } from '../data/requests.js' */
/** @import { Form } from '../parts/forms.js' */

// The form keeps the account as it was when it was opened.
const onceMs = 3_600_000;

/** A form that makes an account; for the operator. */
export function NewAccountPage() {
  const client = useClient();
  const [values, setValues] = useState(newAccount);
  const [made, setMade] = useState(/** @type {SavedAccount | null} */ (null));
  const name = values.account.trim();
  const save = async () => {
    const path = apiPath('accounts', name);
    if (await exists(client, path)) throw taken(name);
    setMade(await client.send('PUT', path, accountInput(values)));
  };
  return html`<${Heading}
      title=${made === null ? 'New account' : 'Account created'}
      crumbs=${[['Accounts', href()]]}
    />
    ${
      made === null
        ? html`<${PageForm}
            values=${values}
            onChange=${setValues}
            save=${save}
            verb="Create account"
            what="save the account"
            cancel=${href()}
            ><${AccountFields} isNew
          /><//>`
        : html`<${CheckResult} check=${made.check} />
            <p><a href=${href('accounts', name)}>Open the account</a></p>`
    }`;
}

// PUT would replace an account of the same name, with its key.
/** @type {(client: ApiClient, path: string) => Promise<boolean>} */
async function exists(client, path) {
  try {
    await client.get(path);
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false;
    throw error;
  }
}

/** @type {(name: string) => ApiError} */
function taken(name) {
  const message = `"${name}" is taken by another account: choose another name, or edit that account`;
  return new ApiError(409, 'taken', message, [{ path: 'account', message }]);
}

/**
 * The settings of an account; the operator changes them and deletes the account.
 * @param {{ account: string }} props
 */
export function SettingsPage({ account }) {
  const mayChange = useIsOperator() && useMayWrite();
  /** @type {Resource<Account>} */
  const settings = useResource(apiPath('accounts', account), onceMs);
  return html`<${AccountHeading} account=${account} at="settings" title="Settings" /> ${whenRead(
      settings,
      'the account',
      (data) =>
        mayChange
          ? html`<${Edit} settings=${data} />`
          : html`<p class="empty">Only the operator changes these.</p>`,
    )}`;
}

/** @param {{ settings: Account }} props */
function Edit({ settings }) {
  const client = useClient();
  const before = useRef(accountValues(settings));
  const [values, setValues] = useState(before.current);
  const [saved, setSaved] = useState(/** @type {SavedAccount | null} */ (null));
  const { account } = settings;
  const path = apiPath('accounts', account);
  const save = async () => {
    setSaved(null);
    /** @type {SavedAccount} */
    const answer = await client.send('PATCH', path, accountChange(before.current, values));
    before.current = accountValues(answer);
    setValues(before.current);
    setSaved(answer);
  };
  const remove = async () => {
    await client.send('DELETE', path);
    location.hash = href();
  };
  return html`<${PageForm}
      values=${values}
      onChange=${setValues}
      save=${save}
      verb="Save"
      what="save the account"
      cancel=${href('accounts', account)}
      ><${AccountFields} isNew=${false}
    /><//>
    ${saved !== null && html`<${CheckResult} check=${saved.check} />`}
    <${Section} title="Delete the account">
      <p>
        Polling stops, and its filings, events, subscriptions, pending deliveries and tokens are removed. The
        filings at the partner service stay as they are.
      </p>
      <${DialogButton}
        label="Delete the account …"
        title=${`Delete the account ${account}`}
        verb="Delete for good"
        kind="danger"
        typed=${account}
        work=${remove}
      >
        <p>
          Everything that the daemon keeps of it is lost, also what is not delivered yet. This cannot be
          undone.
        </p>
      <//>
    <//>`;
}

// The outcome of one request with the key of an account.
/** @param {{ check: SavedAccount['check'] }} props */
function CheckResult({ check: { ok, detail } }) {
  return html`<${Notice} tone=${ok ? 'good' : 'warn'}>
    <p>
      <strong>
        ${ok ? 'Saved, and the partner service knows the key.' : 'Saved, but the partner service does not answer as it should.'}
      </strong>
      <${Text} value=${detail} />
    </p>
  <//>`;
}

/** @param {{ isNew: boolean }} props */
function AccountFields({ isNew }) {
  /** @type {Form<AccountValues>} */
  const { values, set } = useForm();
  const { stalledAfter, unlessSeen } = values;
  const seconds = {
    inputmode: 'decimal',
    pattern: '[0-9]+([.,][0-9]+)?',
    placeholder: 'Default of the daemon',
    required: !isNew,
  };
  return html`${
      isNew &&
      html`<${Field}
        name="account"
        label="Name"
        help="Part of addresses, metrics and tokens: letters, digits, dots, - and _. It cannot be changed later."
        required
        maxlength="64"
        pattern=${'[A-Za-z0-9][A-Za-z0-9._\\-]*'}
      />`
    }
    <${Field}
      name="baseUrl"
      label="Address of the partner service"
      help="With its version segment."
      type="url"
      required
      placeholder="https://partner.example.com/v1"
    />
    <${Field}
      name="partnerKey"
      label="Key of the partner service"
      help=${isNew ? 'It is sealed and never shown again.' : 'Leave it empty to keep the present key, which is never shown.'}
      type="password"
      autocomplete="new-password"
      required=${isNew}
    />
    <div class="halves">
      <${Field}
        name="pollIntervalMs"
        label="Seconds between polls"
        help="A poll reads what may have changed."
        ...${seconds}
      />
      <${Field}
        name="sweepIntervalMs"
        label="Seconds between sweeps"
        help="A sweep reads every filing."
        ...${seconds}
      />
    </div>
    <${Group}
      name="stalledAfter"
      legend="Stalled after"
      help="How many days a filing may stay in a status before one filing.stalled event is sent; empty for no limit. Durations such as PT36H (ISO 8601) work too."
    >
      <div class="days">
        ${[...new Set([...limitedStatuses, ...Object.keys(stalledAfter)])].map(
          (status) =>
            html`<label key=${status}
              ><bdi>${status}</bdi>
              <input
                value=${stalledAfter[status] ?? ''}
                placeholder="–"
                size="6"
                autocomplete="off"
                onInput=${(/** @type {Event} */ event) =>
                  set({ stalledAfter: { ...stalledAfter, [status]: valueOf(event) } })}
            /></label>`,
        )}
      </div>
      <${Tick}
        label="REJECTED: only while nobody has seen it"
        checked=${unlessSeen}
        onToggle=${() => set({ unlessSeen: !unlessSeen })}
      />
    <//>
    <div class="halves">
      <${Field}
        name="due"
        label="Due dates"
        help="Days from the policy's effective date, or an endorsement's own, by state; * for all others. These are your own rules: no state has one built in."
        autocomplete="off"
        placeholder="TX 60, * 45"
      />
      <${Field}
        name="dueWarnings"
        label="Warn before"
        help="Days before the due date when one filing.due event is sent for a filing that is not completed; 0 is the date itself."
        autocomplete="off"
        placeholder="7, 0"
      />
    </div>
    <${Group}
      name="digest"
      legend="Digest"
      help="A summary of what is rejected on each of these days, for subscriptions that ask for account.digest. Without a time of day there is none."
    >
      <div class="halves">
        <${Field} name="digestAt" label="Time of day" type="time" />
        <${Field} name="digestZone" label="Time zone" placeholder="America/Chicago" />
        <${Field} name="digestDays" label="Days" help="daily, mon-fri, or mon,wed" />
      </div>
    <//>`;
}
