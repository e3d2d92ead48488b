import { useRef } from '../vendor/hooks.js';
import { useAction } from '../actions/actions.js';
import { isAllBeside, useFocusOnFault } from '../actions/fields.js';
import { html } from '../parts/html.js';
import { Failure, Notice, Text } from '../parts/parts.js';
import { AccountFields, shownFields } from './account-fields.js';

/** @import { SavedAccount } from '../../api-types.ts' */
/** @import { AccountValues } from './account-values.js' */

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
