import { Group, problemOf, TextField } from '../actions/fields.js';
import { limitedStatuses } from '../catalogue.js';
import { html } from '../parts/html.js';

/** @import { ApiError } from '../data/api-client.js' */
/** @import { AccountValues } from './account-values.js' */

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
