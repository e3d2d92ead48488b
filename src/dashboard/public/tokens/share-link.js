import { useState } from '../vendor/hooks.js';
import { Dialog, DialogForm, useAction } from '../actions/actions.js';
import { SecretField } from '../actions/copy.js';
import { apiPath } from '../data/api-client.js';
import { useClient } from '../data/use-resource.js';
import { fullTime } from '../parts/format.js';
import { html } from '../parts/html.js';
import { textOf } from '../actions/fields.js';
import { spans } from './ends.js';

/**
 * Makes a link that opens this account's pages without a token, for those who may only read.
 * @param {{ account: string, onDone: () => void }} props
 */
export function ShareLinkButton({ account, onDone }) {
  const client = useClient();
  const action = useAction();
  const [open, setOpen] = useState(false);
  const [link, setLink] = useState(/** @type {{ url: string, expiresAt: string } | null} */ (null));
  const make = async (/** @type {FormData} */ form) => {
    const name = textOf(form, 'name');
    const body = { name, expiresInMs: Number(form.get('span')), readOnly: true };
    setLink(await client.send('POST', apiPath('accounts', account, 'links'), body));
    onDone();
  };
  const close = () => {
    setOpen(false);
    setLink(null);
  };
  return html`<button type="button" onClick=${() => setOpen(true)}>Share a read-only link …</button>
    <${Dialog} title="Share a read-only link" open=${open} onClose=${close}>
      ${
        link === null
          ? html`<${DialogForm}
              action=${action}
              work=${make}
              verb="Make the link"
              what="make the link"
              onCancel=${close}
            >
              <p>
                Everyone with the link sees the pages of <bdi class="text">${account}</bdi> until it expires,
                and can change nothing. It needs no token. The list below shows it, and revoking it there ends
                it.
              </p>
              <label
                >For whom
                <input
                  name="name"
                  required
                  maxlength="100"
                  autocomplete="off"
                  placeholder="Such as the agency’s name"
              /></label>
              <label
                >Expires after
                <select name="span">
                  ${spans.map(
                    ([ms, label]) =>
                      html`<option key=${ms} value=${ms} selected=${ms === 604_800_000}>${label}</option>`,
                  )}
                </select>
              </label>
            <//>`
          : html`<p role="status"><strong>This link is shown only now.</strong></p>
              <${SecretField} label="Link" value=${link.url} />
              <p class="quiet">It expires on ${fullTime(Date.parse(link.expiresAt))}.</p>
              <div class="buttons"><button type="button" onClick=${close}>Close</button></div>`
      }
    <//>`;
}
