import { html, useRef } from '../html.js';
import { apiPath, useClient } from '../data/api.js';
import { inStorage, useMayTriage } from '../session.js';
import { DialogButton, textOf, WorkButton } from './forms.js';
import { number } from './format.js';
import { FilingLink, Text, When } from './parts.js';

/** @import { Filing, Rejection } from '../../api-types.ts' */

/** @typedef {Pick<Rejection, 'filingId' | 'insuredsName' | 'seen' | 'assignee' | 'note'>} Noted */

const storageKey = 'filing-webhooks.name';
// Maximum number of filings in one request.
const markedAtOnce = 500;

/** The name that the user gave last in this browser; empty for none. */
export const keptName = () => inStorage((storage) => storage.getItem(storageKey)) ?? '';

/**
 * The person who has seen a rejection, its assignee and its latest note, with a button for those who may
 * mark it.
 * @param {{ account: string, filing: Noted, onChanged: () => void, take?: boolean, onClose?: () => void }}
 * props `take`: the dialog is open at first, to mark and take the filing
 */
export function SeenBy({ account, filing, onChanged, take = false, onClose }) {
  const send = useChange(account, filing.filingId, onChanged);
  const mayTriage = useMayTriage();
  const { seen } = filing;
  const name = nameOf(filing);
  const isMarked = useRef(false);
  const mark = async (/** @type {FormData} */ form) => {
    const { by, ...note } = signed(form);
    /** @type {Change[]} */
    const taken = form.has('mine') ? [['PUT', 'assignee', { by, assignee: by }]] : [];
    await send(['PUT', 'seen', { by, ...note }], ...taken);
    isMarked.current = true;
  };
  const undo = async () => {
    const by = keptName();
    await send(['DELETE', `seen${by === '' ? '' : `?by=${encodeURIComponent(by)}`}`]);
  };
  const close = () => {
    if (isMarked.current) focusNext();
    onClose?.();
  };
  const standing = html`<${Standing} filing=${filing} />`;
  if (seen !== null || !mayTriage) {
    const who = seen
      ? html`<${Text} value=${seen.by} />, <span class="quiet"><${When} at=${seen.at} /></span>`
      : html`<span class="none">nobody yet</span>`;
    return html`<span class="seen">
      <span
        ><span class="quiet">Seen by</span> ${who}
        ${mayTriage && html`<${Undo} work=${undo} name=${`${name} was not seen after all`} />`}</span
      >
      ${standing}
    </span>`;
  }
  return html`<span class="seen"
    ><${DialogButton}
      label="Mark as seen"
      name=${`Mark as seen: ${name}`}
      kind="small mark"
      isOpenAtFirst=${take}
      work=${mark}
      onClose=${close}
    >
      <p><${Text} value=${name} /></p>
      <${Signature} />
      <label class="tick"
        ><input type="checkbox" name="mine" defaultChecked=${take} /> <span>Assign it to me</span></label
      >
      <p class="quiet">
        Everybody who sees the filing sees it; the mark ends when status or reason change.
      </p> <//
    >${standing}</span
  >`;
}

// To whom a filing is assigned, and its latest note.
/** @param {{ filing: Pick<Noted, 'assignee' | 'note'> }} props */
function Standing({ filing: { assignee, note } }) {
  return html`${assignee && html`<span><span class="quiet">Assigned to</span> <${Text} value=${assignee} /></span>`}
  ${note && html`<span class="clamp"><${Text} value=${note.text} /></span>`}`;
}

/**
 * A dialog that marks several rejections as seen; renders nothing if all of them are.
 * @param {{ rejections: readonly Rejection[], isChosen: boolean, onDone: () => void }} props `isChosen`: the
 * user has picked these
 */
export function MarkMany({ rejections, isChosen, onDone }) {
  const client = useClient();
  const unseen = rejections.filter(({ seen }) => seen === null);
  if (!useMayTriage() || unseen.length === 0) return null;
  const mark = async (/** @type {FormData} */ form) => {
    /** @type {string[]} */
    const problems = [];
    for (const [account, some] of Map.groupBy(unseen, (one) => one.account)) {
      for (let from = 0; from < some.length; from += markedAtOnce) {
        const ids = some.slice(from, from + markedAtOnce).map(({ filingId }) => filingId);
        const path = apiPath('accounts', account, 'filings', 'seen');
        // One after the other: each request may have hundreds of filings.
        const { refused } = await client.send('PUT', path, { ids, ...signed(form) });
        problems.push(...refused.map((/** @type {{ detail: string }} */ { detail }) => detail));
      }
    }
    onDone();
    if (problems.length === 0) return;
    return {
      shown: html`<p role="status">
        ${number(problems.length)} could not be marked: <${Text} value=${problems[0]} />
      </p>`,
    };
  };
  const which = `${isChosen ? '' : 'all '}${number(unseen.length)} ${isChosen ? 'chosen' : 'shown'}`;
  return html`<${DialogButton} label=${`Mark ${which} as seen …`} verb="Mark as seen" work=${mark}>
    <${Signature} />
  <//>`;
}

/**
 * To whom a filing is assigned and its latest note, with buttons for those who may change them.
 * @param {{ account: string, filing: Filing, onChanged: () => void }} props
 */
export function Notes({ account, filing, onChanged }) {
  const send = useChange(account, filing.filingId, onChanged);
  const mayTriage = useMayTriage();
  const write = (/** @type {FormData} */ form) => {
    const { by, note } = signed(form);
    return send(['POST', 'notes', { by, text: note }]);
  };
  const assign = (/** @type {FormData} */ form) =>
    send(['PUT', 'assignee', { by: signed(form).by, assignee: textOf(form, 'assignee') || null }]);
  const { assignee, note } = filing;
  return html`<div class="buttons">
      <span>Assigned to ${assignee === null ? 'nobody' : html`<${Text} value=${assignee} />`}</span>
      ${
        mayTriage &&
        html`<${DialogButton} label="Assign …" kind="small" work=${assign}>
            <${YourName} />
            <label
              >Assign to
              <input
                name="assignee"
                maxlength="100"
                defaultValue=${assignee ?? keptName()}
                autocomplete="off"
            /></label>
            <p class="quiet">Empty: to nobody.</p>
          <//>
          <${DialogButton} label="Write a note …" verb="Write the note" kind="small" work=${write}>
            <${YourName} />
            <label>Note <input name="note" required maxlength="500" autocomplete="off" /></label>
          <//>`
      }
    </div>
    ${
      note &&
      html`<p>
        <${Text} value=${note.text} />${' '}
        <span class="quiet"><${Text} value=${note.by} />, <${When} at=${note.at} /></span>
      </p>`
    }`;
}

/**
 * The filing that answers a rejection, with buttons for those who may say so.
 * @param {{ account: string, filing: Pick<Filing, 'filingId' | 'answeredBy'>, onChanged: () => void }} props
 */
export function AnsweredBy({ account, filing: { filingId, answeredBy }, onChanged }) {
  const send = useChange(account, filingId, onChanged);
  const mayTriage = useMayTriage();
  const link = (/** @type {FormData} */ form) =>
    send(['PUT', 'answer', { answeredBy: textOf(form, 'answeredBy') }]);
  if (answeredBy !== null)
    return html`<span
      ><span class="quiet">Answered by</span>
      <${FilingLink}
        account=${account}
        filingId=${answeredBy}
      />${' '}${mayTriage && html`<${Undo} work=${() => send(['DELETE', 'answer'])} name="not answered after all" />`}</span
    >`;
  if (!mayTriage) return null;
  return html`<span
    ><${DialogButton} label="Answered by …" verb="Save" what="save that" kind="small" work=${link}>
      <label
        >Id of the corrected filing <input name="answeredBy" required maxlength="256" autocomplete="off"
      /></label>
      <p class="quiet">A filing with the same policy number, state and type is linked by itself.</p>
    <//></span
  >`;
}

/** @typedef {[method: string, part: string, body?: unknown]} Change of a part of a filing */

// Sends changes one after the other, and calls back once they are made.
/**
 * @type {(account: string, filingId: string, onChanged: () => void) =>
 * (...changes: Change[]) => Promise<void>}
 */
function useChange(account, filingId, onChanged) {
  const client = useClient();
  return async (...changes) => {
    for (const [method, part, body] of changes)
      await client.send(method, `${apiPath('accounts', account, 'filings', filingId)}/${part}`, body);
    onChanged();
  };
}

/** @param {{ work: () => Promise<void>, name: string }} props */
function Undo({ work, name }) {
  return html`<${WorkButton} work=${work} what="undo that" kind="link" name=${`Undo: ${name}`}>Undo<//>`;
}

function YourName() {
  return html`<label
    >Your name <input name="by" required maxlength="100" defaultValue=${keptName()} autocomplete="name"
  /></label>`;
}

// The name of the user, and a note for each of the rejections.
function Signature() {
  return html`<${YourName} />
    <label>Note (optional) <input name="note" maxlength="500" autocomplete="off" /></label>`;
}

/** @type {(form: FormData) => { by: string, note?: string }} */
function signed(form) {
  const [by, note] = [textOf(form, 'by'), textOf(form, 'note')];
  inStorage((storage) => storage.setItem(storageKey, by));
  return note === '' ? { by } : { by, note };
}

/**
 * The name by which people know a filing; pure.
 * @param {Pick<Noted, 'filingId' | 'insuredsName'>} filing
 */
export const nameOf = ({ filingId, insuredsName }) => (insuredsName?.trim() ? insuredsName : filingId);

// The focused button disappears, so the next of its kind gets the focus, or the heading if there is none.
function focusNext() {
  const buttons = [...document.querySelectorAll('button.mark')];
  const at = buttons.findIndex((button) => button === document.activeElement);
  const next = (at >= 0 && (buttons[at + 1] ?? buttons[at - 1])) || document.querySelector('h1');
  if (next instanceof HTMLElement) next.focus();
}
