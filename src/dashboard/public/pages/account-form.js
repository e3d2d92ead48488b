import { useRef, useState } from '../vendor/hooks.js';
import { ConfirmButton, useAction } from '../parts/actions.js';
import { apiPath, ApiError } from '../data/api-client.js';
import { useIsOperator, useMayWrite } from '../session.js';
import { useClient, useResource } from '../data/use-resource.js';
import { AccountNav } from '../parts/account-parts.js';
import { duration } from '../parts/format.js';
import { html } from '../html.js';
import { Facts, Failure, Heading, Loading, Text, Notice } from '../parts/parts.js';
import { href } from '../router.js';
import { accountChange, accountInput, accountValues, newAccount } from './account-values.js';
import { isAllBeside, useFocusOnFault, Group, problemOf, TextField } from '../parts/fields.js';
import { limitedStatuses } from '../catalogue.js';

/** @import { AccountValues } from './account-values.js' */
/** @import { Account, SavedAccount } from '../../api-types.ts' */
/** @import { Resource } from '../data/use-resource.js' */

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

/** A form that makes an account; for the operator. */
export function NewAccountPage() {
  const client = useClient();
  const [values, setValues] = useState(newAccount);
  const [made, setMade] = useState(/** @type {SavedAccount | null} */ (null));
  const save = async () => {
    const path = apiPath('accounts', values.name.trim());
    if (await exists(client, path)) throw taken(values.name);
    setMade(await client.send('PUT', path, accountInput(values)));
  };
  return html`<${Heading}
      title=${made === null ? 'New account' : 'Account created'}
      crumbs=${[['Accounts', href()]]}
    />
    ${
      made === null
        ? html`<${AccountForm}
            values=${values}
            onChange=${(/** @type {Partial<typeof values>} */ part) => setValues({ ...values, ...part })}
            save=${save}
            verb="Create account"
            isNew=${true}
            cancel=${href()}
          />`
        : html`<${CheckResult} check=${made.check} />
            <p><a href=${href('accounts', values.name.trim())}>Open the account</a></p>`
    }`;
}

// PUT would replace an account of the same name, with its key.
/** @type {(client: import('../data/api-client.js').ApiClient, path: string) => Promise<boolean>} */
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
  const message = `"${name.trim()}" is taken by another account: choose another name, or edit that account`;
  return new ApiError(409, 'taken', message, [{ path: 'account', message }]);
}

/**
 * A form for an account with its button.
 * @param {{ values: AccountValues, onChange: (part: Partial<AccountValues>) => void, save: () =>
 * Promise<void>, verb: string, isNew: boolean, cancel: string }} props `cancel`: the address that it leads to
 */
export function AccountForm({ values, onChange, save, verb, isNew, cancel }) {
  const action = useAction();
  const form = useRef(/** @type {HTMLFormElement | null} */ (null));
  useFocusOnFault(action.error, form);
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    action.run(save);
  };
  return html`<form class="form" ref=${form} onSubmit=${submit}>
    <${AccountFields} values=${values} onChange=${onChange} error=${action.error} isNew=${isNew} />
    ${
      isAllBeside(action.error, shownFields)
        ? html`<p class="notice bad" role="alert">Nothing was saved: see the fields above.</p>`
        : html`<${Failure} error=${action.error} what="save the account" />`
    }
    <div class="buttons">
      <button type="submit" class="primary" aria-disabled=${action.busy}>${verb}</button>
      <a href=${cancel}>Cancel</a>
      ${action.busy && html`<span class="loading" role="status">Saving, and asking the partner service …</span>`}
    </div>
  </form>`;
}

/**
 * The outcome of one request with the key of an account.
 * @param {{ check: SavedAccount['check'] }} props
 */
export function CheckResult({ check }) {
  return html`<${Notice} tone=${check.ok ? 'good' : 'warn'}>
    <p>
      <strong>
        ${check.ok ? 'Saved, and the partner service knows the key.' : 'Saved, but the partner service does not answer as it should.'}
      </strong>
      <${Text} value=${check.detail} />
    </p>
  <//>`;
}

/** The fields of a request that stand on the form, each with its own fault beside it. */
export const shownFields = /** @type {const} */ ([
  'account',
  'baseUrl',
  'partnerKey',
  'pollIntervalMs',
  'sweepIntervalMs',
  'stalledAfter',
]);

/**
 * The fields of a new or a changed account.
 * @param {{ values: AccountValues, onChange: (part: Partial<AccountValues>) => void, error: ApiError | null,
 * isNew: boolean }} props
 */
export function AccountFields({ values, onChange, error, isNew }) {
  const field = (
    /** @type {'name' | 'baseUrl' | 'partnerKey' | 'pollSeconds' | 'sweepSeconds'} */ name,
    /** @type {string} */ path = name,
  ) => ({
    name,
    value: values[name],
    onInput: (/** @type {string} */ value) => onChange({ [name]: value }),
    problem: problemOf(error, path),
  });
  const plain = { autocomplete: 'off', spellcheck: false };
  const seconds = { ...plain, inputmode: 'decimal', pattern: '[0-9]+([.,][0-9]+)?' };
  return html`${
      isNew &&
      html`<${TextField}
        ...${field('name', 'account')}
        label="Name"
        help="Part of addresses, metrics and tokens: letters, digits, dots, - and _. It cannot be changed later."
        more=${{ ...plain, required: true, maxlength: 64, pattern: '[A-Za-z0-9][A-Za-z0-9._\\-]*' }}
      />`
    }
    <${TextField}
      ...${field('baseUrl')}
      label="Address of the partner service"
      help="With its version segment."
      more=${{ ...plain, type: 'url', required: true, placeholder: 'https://partner.example.com/v1' }}
    />
    <${TextField}
      ...${field('partnerKey')}
      label="Key of the partner service"
      help=${isNew ? 'It is sealed and never shown again.' : 'Leave it empty to keep the present key, which is never shown.'}
      more=${{ ...plain, type: 'password', autocomplete: 'new-password', required: isNew }}
    />
    <div class="halves">
      <${TextField}
        ...${field('pollSeconds', 'pollIntervalMs')}
        label="Seconds between polls"
        help="A poll reads what may have changed."
        more=${{ ...seconds, placeholder: 'Default of the daemon', required: !isNew }}
      />
      <${TextField}
        ...${field('sweepSeconds', 'sweepIntervalMs')}
        label="Seconds between sweeps"
        help="A sweep reads every filing."
        more=${{ ...seconds, placeholder: 'Default of the daemon', required: !isNew }}
      />
    </div>
    <${StalledAfter}
      values=${values.stalledAfter}
      onChange=${(/** @type {AccountValues['stalledAfter']} */ stalledAfter) => onChange({ stalledAfter })}
      problem=${problemOf(error, 'stalledAfter')}
    />`;
}

/**
 * @param {{ values: AccountValues['stalledAfter'], onChange: (values: AccountValues['stalledAfter']) => void,
 * problem: string | null }} props
 */
function StalledAfter({ values, onChange, problem }) {
  const statuses = [...new Set([...limitedStatuses, ...Object.keys(values)])];
  return html`<${Group}
    legend="Stalled after"
    problem=${problem}
    help="How many days a filing may stay in a status before one filing.stalled event is sent; empty for no limit. Durations such as PT36H (ISO 8601) work too."
  >
    <div class="days">
      ${statuses.map(
        (status) =>
          html`<label key=${status}
            ><bdi>${status}</bdi>
            <input
              value=${values[status] ?? ''}
              placeholder="–"
              size="6"
              autocomplete="off"
              onInput=${(/** @type {InputEvent} */ event) =>
                onChange({
                  ...values,
                  [status]: /** @type {HTMLInputElement} */ (event.currentTarget).value,
                })}
          /></label>`,
      )}
    </div>
  <//>`;
}
