import { html } from '../html.js';
import { apiPath, useClient, useList } from '../data/api.js';
import { href } from '../router.js';
import { useMayWrite } from '../session.js';
import { DialogButton } from './forms.js';
import { number } from './format.js';
import { Text, When, whenRead } from './parts.js';

/** @import { Account, Filing, Subscription } from '../../api-types.ts' */
/** @import { List } from '../data/api.js' */

const shownMax = 2;
const refreshMs = 30_000;

/**
 * The receivers that were notified of a rejection, the first two by name; nothing for a filing in another
 * status.
 * @param {{ filing: Partial<Filing> }} props
 */
export function ToldTo({ filing: { told = null, status = 'REJECTED' } }) {
  if (status !== 'REJECTED') return null;
  if (told === null) return html`<span class="none">not known any more</span>`;
  if (told.length === 0) return html`<strong class="toned warn">nobody</strong>`;
  const more = told.length - shownMax;
  return html`${told.slice(0, shownMax).map(
    ({ subscription, description, at }) =>
      html`<div key=${subscription}>
        <${Text} value=${description || subscription} />${' '}
        <span class="quiet"><${When} at=${at} never="at a time that is not known any more" /></span>
      </div>`,
  )}
  ${more > 0 && html`<div class="quiet">and ${number(more)} more</div>`}`;
}

/**
 * The sentence about who was notified of a rejection, with a button that sends it to others.
 * @param {{ account: string, filing: Filing, onChanged: () => void }} props
 */
export function ToldOfFiling({ account, filing, onChanged }) {
  const { told, sinceIsFirstRead } = filing;
  const mayWrite = useMayWrite();
  const nobody = sinceIsFirstRead
    ? 'Nobody was told: it was so at the first read.'
    : 'Nobody was told so far.';
  return html`<div class=${`notice split ${told?.length === 0 ? 'warn' : 'info'}`}>
    ${
      told?.length === 0
        ? html`<p>${nobody}</p>`
        : html`<div><span class="quiet">Told:</span> <${ToldTo} filing=${filing} /></div>`
    }
    ${mayWrite && html`<${SendTo} account=${account} filing=${filing} onSent=${onChanged} />`}
  </div>`;
}

/** @param {{ account: string, filing: Filing, onSent: () => void }} props */
function SendTo({ account, filing: { filingId }, onSent }) {
  const client = useClient();
  const send = async (/** @type {FormData} */ form) => {
    const subscriptions = form.getAll('to');
    if (subscriptions.length === 0) return /** @type {const} */ ('stay');
    await client.send('POST', apiPath('accounts', account, 'filings', filingId, 'send'), { subscriptions });
    onSent();
    return { shown: html`<p role="status">On its way. This page shows when it was acknowledged.</p>` };
  };
  return html`<${DialogButton}
    label="Send to …"
    title="Send this filing to"
    verb="Send"
    what="send it"
    work=${send}
  >
    <p>Each gets one message with the filing as it is now, whatever else it asks for.</p>
    <${Receivers} account=${account} />
  <//>`;
}

/** @param {{ account: string }} props */
function Receivers({ account }) {
  /** @type {List<Subscription>} */
  const list = useList(`${apiPath('accounts', account, 'subscriptions')}?limit=100`, refreshMs);
  const show = (/** @type {NonNullable<typeof list.data>} */ { items }) => {
    const open = items.filter(({ enabled }) => enabled);
    if (open.length === 0)
      return html`<p>
        No subscription is enabled. <a href=${newForRejections(account)}>Make one for rejections</a>
      </p>`;
    return html`<fieldset>
      <legend>Receivers</legend>
      ${open.map(
        ({ id, description, url }) =>
          html`<label key=${id}
            ><input type="checkbox" name="to" value=${id} /> <${Text} value=${description || url}
          /></label>`,
      )}
    </fieldset>`;
  };
  return whenRead(list, 'the subscriptions', show);
}

/**
 * The address of the form for a subscription to rejections.
 * @param {string} account
 */
export const newForRejections = (account) => href('accounts', account, 'subscriptions', 'new');

/**
 * Warns that no receiver hears of an account's rejections. Renders nothing if one does, or if that is not
 * known.
 * @param {{ account: Pick<Account, 'account' | 'rejectionsCovered'> }} props
 */
export function Uncovered({ account: { account, rejectionsCovered } }) {
  const mayWrite = useMayWrite();
  if (rejectionsCovered !== false) return null;
  return html`<div class="notice warn split" role="status">
    <p><strong>Nobody is told when a filing is rejected:</strong> no enabled subscription covers REJECTED.</p>
    ${mayWrite && html`<a class="button" href=${newForRejections(account)}>Set up an alert</a>`}
  </div>`;
}
