import { useState } from '../vendor/hooks.js';
import { Dialog, DialogForm, useAction } from '../actions/actions.js';
import { SecretField } from '../actions/copy.js';
import { useClient } from '../data/use-resource.js';
import { html } from '../parts/html.js';
import { textOf } from '../actions/fields.js';
import { spans } from './ends.js';

/**
 * Makes a token and shows its text once.
 * @param {{ path: string, onDone: () => void }} props `path`: of the tokens
 */
export function NewTokenButton({ path, onDone }) {
  const client = useClient();
  const action = useAction();
  const [open, setOpen] = useState(false);
  const [text, setText] = useState(/** @type {string | null} */ (null));
  const make = async (/** @type {FormData} */ form) => {
    const span = Number(form.get('span'));
    const rights = form.get('rights');
    const { token } = await client.send('POST', path, {
      name: textOf(form, 'name'),
      readOnly: rights === 'read',
      ...(rights === 'own' ? { subscriptions: 'own' } : {}),
      ...(span === 0 ? {} : { expiresAt: new Date(client.now() + span).toISOString() }),
    });
    setText(token);
    onDone();
  };
  const close = () => {
    setOpen(false);
    setText(null);
  };
  return html`<button type="button" class="primary" onClick=${() => setOpen(true)}>New token …</button>
    <${Dialog} title="New token" open=${open} onClose=${close}>
      ${
        text === null
          ? html`<${DialogForm}
              action=${action}
              work=${make}
              verb="Make the token"
              what="make the token"
              onCancel=${close}
            >
              <label
                >Name
                <input
                  name="name"
                  required
                  maxlength="100"
                  autocomplete="off"
                  placeholder="Who or what uses it"
              /></label>
              <fieldset>
                <legend>Rights</legend>
                <label
                  ><input type="radio" name="rights" value="read" checked /> Read only: sees everything but
                  what gives access to receivers</label
                >
                <label
                  ><input type="radio" name="rights" value="own" /> Own subscriptions: sees the same, and
                  manages those subscriptions that it makes; for a tool such as n8n</label
                >
                <label
                  ><input type="radio" name="rights" value="write" /> Read and write: may also change
                  subscriptions and tokens</label
                >
              </fieldset>
              <label
                >Expires after
                <select name="span">
                  <option value="0">never, or with your own token</option>
                  ${spans.map(([ms, label]) => html`<option key=${ms} value=${ms}>${label}</option>`)}
                </select>
              </label>
            <//>`
          : html`<p role="status">
                <strong>This token is shown only now.</strong> Give it to its user before you close this.
              </p>
              <${SecretField} label="Token" value=${text} />
              <div class="buttons"><button type="button" onClick=${close}>Close</button></div>`
      }
    <//>`;
}
