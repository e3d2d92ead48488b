import { useState } from '../vendor/hooks.js';
import { Dialog, DialogForm, useAction } from './actions.js';
import { SecretField } from './copy.js';
import { html } from '../parts/html.js';
import { fullTime } from '../parts/format.js';
import { useClient } from '../data/use-resource.js';

/** @import { Rotation } from '../../api-types.ts' */

/**
 * Gives a subscription a new secret and shows it once.
 * @param {{ path: string, onDone: () => void }} props `path`: of the subscription
 */
export function RotateButton({ path, onDone }) {
  const client = useClient();
  const action = useAction();
  const [open, setOpen] = useState(false);
  const [rotation, setRotation] = useState(/** @type {Rotation | null} */ (null));
  const rotate = async (/** @type {FormData} */ form) => {
    setRotation(await client.send('POST', `${path}/rotate-secret`, { graceMs: Number(form.get('graceMs')) }));
    onDone();
  };
  const close = () => {
    setOpen(false);
    setRotation(null);
  };
  return html`<button type="button" onClick=${() => setOpen(true)}>Rotate the secret …</button>
    <${Dialog} title="Rotate the secret" open=${open} onClose=${close}>
      ${
        rotation === null
          ? html`<${DialogForm}
              action=${action}
              work=${rotate}
              verb="Rotate"
              what="rotate the secret"
              onCancel=${close}
            >
              <p>
                Requests are signed with a new secret at once, and with the old one as well for a while, so
                that the receiver can change over.
              </p>
              <label
                >The old secret stays valid for
                <select name="graceMs">
                  <option value="0">no time: it has leaked</option>
                  <option value="3600000">1 hour</option>
                  <option value="86400000" selected>24 hours</option>
                  <option value="604800000">7 days</option>
                </select>
              </label>
            <//>`
          : html`<${NewSecret} rotation=${rotation} onClose=${close} />`
      }
    <//>`;
}

/** @param {{ rotation: Rotation, onClose: () => void }} props */
function NewSecret({ rotation: { secret, publicKeys, previousExpiresAt }, onClose }) {
  return html`${
      secret &&
      html`<p role="status">
        <strong>This secret is shown only now.</strong> Give it to the receiver before you close this.
      </p>`
    }
    <${SecretField}
      label=${`New ${secret ? 'secret' : 'public key'}`}
      value=${secret ?? publicKeys?.[0]?.key}
    />
    <p class="quiet">
      ${
        previousExpiresAt === null
          ? 'The old one is no longer valid.'
          : html`Requests are signed with the old one as well until
            ${fullTime(Date.parse(previousExpiresAt))}.`
      }
    </p>
    <div class="buttons">
      <button type="button" onClick=${onClose}>Close</button>
    </div>`;
}
