import { html } from '../html.js';
import { apiPath } from '../data/api-client.js';
import { useClient } from '../data/use-resource.js';
import { useMayWrite } from '../session.js';
import { DialogButton, WorkButton } from './actions.js';
import { textOf } from './fields.js';
import { Text, When } from './parts.js';

/** @import { Rejection } from '../../api-types.ts' */

const storageKey = 'filing-webhooks.name';

/**
 * The person who took note of a rejection, with a button for those who may.
 * @param {{ account: string, filing: Pick<Rejection, 'filingId' | 'insuredsName' | 'seen'>, onChanged: () =>
 * void }} props
 */
export function SeenBy({ account, filing: { filingId, insuredsName, seen }, onChanged }) {
  const client = useClient();
  const mayWrite = useMayWrite();
  const path = apiPath('accounts', account, 'filings', filingId, 'seen');
  const name = insuredsName || filingId;
  const mark = async (/** @type {FormData} */ form) => {
    const [by, note] = [textOf(form, 'by'), textOf(form, 'note')];
    keepName(by);
    await client.send('PUT', path, note === '' ? { by } : { by, note });
    onChanged();
  };
  const undo = async () => {
    await client.send('DELETE', path);
    onChanged();
  };
  if (seen !== null)
    return html`<span class="seen">
      <span
        ><span class="quiet">Seen by</span> <${Text} value=${seen.by} />,
        <span class="quiet"><${When} at=${seen.at} /></span>${' '}${
          mayWrite &&
          html`<${WorkButton} work=${undo} what="undo that" kind="link" name=${`Not seen after all: ${name}`}
            >Undo<//
          >`
        }</span
      >
      ${seen.note && html`<span class="clamp"><${Text} value=${seen.note} /></span>`}
    </span>`;
  if (!mayWrite) return html`<span class="none">nobody yet</span>`;
  return html`<${DialogButton}
    label="Mark as seen"
    name=${`Mark as seen: ${name}`}
    title="Mark as seen"
    verb="Mark as seen"
    what="mark it as seen"
    kind="small"
    work=${mark}
  >
    <p><${Text} value=${name} /></p>
    <label
      >Your name <input name="by" required maxlength="100" defaultValue=${keptName()} autocomplete="name"
    /></label>
    <label>Note (optional) <input name="note" maxlength="500" autocomplete="off" /></label>
    <p class="quiet">Everybody who sees the filing sees both, until the filing changes.</p>
  <//>`;
}

function keptName() {
  try {
    return localStorage.getItem(storageKey) ?? '';
  } catch {
    return '';
  }
}

/** @param {string} name */
function keepName(name) {
  try {
    localStorage.setItem(storageKey, name);
  } catch {
    // A browser without storage asks for it each time.
  }
}
