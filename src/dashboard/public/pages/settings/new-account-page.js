import { useState } from '../../vendor/hooks.js';
import { apiPath } from '../../data/api-client.js';
import { useClient } from '../../data/use-resource.js';
import { html } from '../../parts/html.js';
import { Heading } from '../../parts/parts.js';
import { href } from '../../router.js';
import { ApiError } from '../../data/api-client.js';
import { AccountForm, CheckResult } from '../../settings/account-form.js';
import { accountInput, newAccount } from '../../settings/account-values.js';

/** @import { SavedAccount } from '../../../api-types.ts' */

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
/** @type {(client: import('../../data/api-client.js').ApiClient, path: string) => Promise<boolean>} */
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
