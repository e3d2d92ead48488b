import { html } from '../html.js';
import { apiPath, useClient, useList } from '../data/api.js';
import { useFaults } from '../data/daemon.js';
import { href, withQuery } from '../router.js';
import { dollars, number, spaced } from './format.js';
import { Age, Badge, FilingLink, StillTable, Text, useNow, When, whenRead } from './parts.js';
import { useMayTriage } from '../session.js';
import { ToldTo } from './told.js';
import { DialogButton, textOf, WorkButton } from './forms.js';

/** @import { Filing, FilingPage, Rejection } from '../../api-types.ts' */
/** @import { Knowledge } from './account-parts.js' */
/** @import { List } from '../data/api.js' */
/** @import { Row } from './parts.js' */

const refreshMs = 5000;
const completed = 'COMPLETED';

/**
 * A filing of a list; a rejection of the board has not every field, and its account.
 * @typedef {Pick<Rejection, keyof Rejection & keyof Filing> & Partial<Filing & Rejection>} Listed
 */

/** @type {Readonly<Record<string, (filing: Listed, account: string, onChanged: () => void) => any>>} */
const cells = {
  Age: (filing) => html`<${FilingAge} filing=${filing} />`,
  Insured: ({ filingId, insuredsName, answeredBy }, account) => {
    const link = html`<${FilingLink} account=${account} filingId=${filingId} name=${insuredsName} />`;
    return answeredBy === null ? link : html`<s>${link}</s>`;
  },
  Policy: ({ policyNumber }) => html`<${Text} value=${policyNumber} />`,
  State: ({ stateAbbr }) => html`<${Text} value=${stateAbbr} />`,
  Type: ({ filingType }) => html`<${Text} value=${filingType && spaced(filingType)} />`,
  Premium: ({ premium }) => html`<${Text} value=${dollars(premium)} />`,
  Status: ({ status }) => html`<${Badge} word=${status} />`,
  Due: ({ dueAt }) => html`<${Due} at=${dueAt} />`,
  Since: ({ since }) => html`<${When} at=${since} />`,
  Completed: ({ completedAt = null }) => html`<${When} at=${completedAt} never="–" />`,
  Reason: ({ rejectionReason }) =>
    html`<span class="clamp reason"><${Text} value=${rejectionReason} /></span>`,
  Account: (_, account) => html`<a href=${href('accounts', account)}><${Text} value=${account} /></a>`,
  'Answered by': ({ answeredBy }, account) =>
    html`<${FilingLink} account=${account} filingId=${answeredBy} />`,
  Told: (filing) => html`<${ToldTo} filing=${filing} />`,
  'Seen by': (filing, account, onChanged) =>
    html`<${SeenBy} account=${account} filing=${filing} onChanged=${onChanged} />`,
};

/**
 * How long a filing has been in its status. Of one that was so at its first read it says so, and when it was
 * filed.
 * @param {{ filing: Pick<Listed, 'since' | 'sinceIsFirstRead' | 'createdAt'> }} props
 */
export function FilingAge({ filing: { since, sinceIsFirstRead, createdAt } }) {
  const filed = createdAt === null || Number.isNaN(Date.parse(createdAt)) ? null : createdAt;
  return html`<${Age} since=${since} atLeast=${sinceIsFirstRead} />${
      sinceIsFirstRead &&
      html`<span class="quiet"
        >, already so at the first read${filed !== null && html`; filed <${When} at=${filed} />`}</span
      >`
    }`;
}

/**
 * When a filing is due, in words once that is past.
 * @param {{ at: string | null }} props
 */
export function Due({ at }) {
  const now = useNow();
  if (at === null) return html`<span class="none">–</span>`;
  return Date.parse(at) > now
    ? html`<span>due <${When} at=${at} /></span>`
    : html`<span class="age bad">overdue since <${When} at=${at} /></span>`;
}

/**
 * The columns of filings in one status, or in all; pure. Filings that wait show their age.
 * @param {string | null} status
 */
export function columnsOf(status) {
  if (status === null) return ['Insured', 'Policy', 'State', 'Type', 'Premium', 'Status', 'Since'];
  if (status === completed) return ['Insured', 'Policy', 'State', 'Completed'];
  const open = ['Age', 'Insured', 'Policy', 'State', 'Premium'];
  return status === 'REJECTED' ? [...open, 'Reason', 'Told'] : [...open, 'Type'];
}

/** Columns of figures. */
export const numbers = ['Premium'];

/**
 * A row of these columns, and the same as a card.
 * @param {readonly string[]} columns
 * @param {string} account
 * @param {Listed} filing
 * @param {() => void} [onChanged] called after a person took note of it
 * @returns {Row}
 */
export function rowOf(columns, account, filing, onChanged = () => {}) {
  const show = (/** @type {string} */ column) => cells[column]?.(filing, account, onChanged);
  const has = (/** @type {string} */ column) => columns.includes(column);
  const time = ['Completed', 'Age'].find(has) ?? 'Since';
  return {
    key: `${account}\n${filing.filingId}`,
    cells: columns.map(show),
    card: html`<div class="card-line"><span class="clamp">${show('Insured')}</span> ${show(time)}</div>
      <div class="quiet">
        ${filing.policyNumber !== null && html`${show('Policy')} · `}${show('State')}
        ${has('Status') && html` ${show('Status')}`} ${has('Account') && html` · ${show('Account')}`}
      </div>
      ${has('Due') && filing.dueAt !== null && html`<div>${show('Due')}</div>`}
      ${filing.rejectionReason !== null && show('Reason')}
      ${has('Told') && html`<div><span class="quiet">Told:</span> ${show('Told')}</div>`}
      ${has('Seen by') && show('Seen by')}
      ${has('Answered by') && html`<div>Answered by ${show('Answered by')}</div>`}`,
  };
}

/**
 * The latest rejections of an account. That there are none is an all-clear only while the account is current.
 * @param {{ account: string, knowledge: Knowledge }} props
 */
export function RejectionsTable({ account, knowledge }) {
  const path = withQuery('v1/rejections', { account, limit: '10', order: 'newest' });
  const isAway = useFaults().length > 0;
  return html`<${FilingsList}
    account=${account}
    path=${path}
    columns=${['Age', 'Insured', 'Policy', 'State', 'Reason', 'Told']}
    caption="Rejected filings"
    empty=${allClear(isAway ? 'old' : knowledge)}
  />`;
}

/** @type {(knowledge: Knowledge) => string} */
function allClear(knowledge) {
  if (knowledge === 'current') return 'Nothing is rejected. Nobody has to do anything.';
  if (knowledge === 'unknown')
    return 'Not known yet: the filings of this account were never read as a whole.';
  return 'None was rejected at the last complete poll. What happened since is not known.';
}

/**
 * Which filings are wanted.
 * @typedef {object} FilingChoice
 * @property {string | null} status null: those that are not completed, or all of a search
 * @property {string | null} state
 * @property {string | null} q words of a search
 * @property {'newest' | 'oldest' | 'due'} order
 * @property {readonly string[]} statuses every status that the account has had
 */

/**
 * Filings that match, newest or oldest first; the completed ones alone by their id.
 * @param {{ account: string, choice: FilingChoice }} props
 */
export function FilingsTable({ account, choice }) {
  const { status, state, q } = choice;
  return html`<${FilingsList}
    account=${account}
    path=${withQuery(`${apiPath('accounts', account, 'filings')}?limit=50`, queryOf(choice))}
    columns=${columnsOf(status)}
    caption="Filings"
    empty=${q === null && state === null ? 'No filing is in this status.' : 'No filing matches.'}
    isCounted
  />`;
}

/**
 * Whether the order and the state have an effect on a choice; pure. Completed filings have no order of time,
 * and their states are known only in a search.
 * @param {Pick<FilingChoice, 'status' | 'q'>} choice
 */
export const isSorted = ({ status, q }) => q !== null || status !== completed;

/** @type {(choice: FilingChoice) => Record<string, string | null>} */
function queryOf({ status, state, q, order, statuses }) {
  if (!isSorted({ status, q })) return { status };
  if (q !== null) return { q, status, state, order };
  // A comma would divide a status in two.
  const open = statuses.filter((one) => one !== completed && !one.includes(','));
  return { status: status ?? open.join(','), state, order };
}

/**
 * @param {{ account: string, path: string, columns: string[], caption: string, empty: string, isCounted?:
 * boolean }} props
 */
function FilingsList({ account, path, isCounted = false, ...table }) {
  /** @type {List<Filing>} */
  const list = useList(path, refreshMs);
  const show = (/** @type {NonNullable<typeof list.data>} */ { items, more, first }) =>
    html`<${Searched} page=${first} />
      <${StillTable}
        subject=${path}
        rows=${items.map((filing) => rowOf(table.columns, account, filing))}
        numbers=${numbers}
        more=${more}
        onMore=${list.showMore}
        ...${table}
      />
      ${
        isCounted &&
        items.length > 0 &&
        html`<p class="quiet">${number(items.length)}${more ? ' shown so far' : ' in all'}.</p>`
      }`;
  return whenRead(list, 'the filings', show);
}

/**
 * The sentence about the places that a search looked through, where it is needed.
 * @param {{ page: FilingPage }} props
 */
export function Searched({ page: { searched } }) {
  if (!searched?.detail) return null;
  return html`<p class=${searched.service === 'unavailable' ? 'notice warn' : 'quiet'} role="status">
    <${Text} value=${searched.detail} />
  </p>`;
}

/**
 * The filing that answers a rejection, with buttons for those who may say so.
 * @param {{ account: string, filing: Pick<Filing, 'filingId' | 'answeredBy'>, onChanged: () => void }} props
 */
export function AnsweredBy({ account, filing: { filingId, answeredBy }, onChanged }) {
  const client = useClient();
  const mayTriage = useMayTriage();
  const path = apiPath('accounts', account, 'filings', filingId, 'answer');
  const link = async (/** @type {FormData} */ form) => {
    await client.send('PUT', path, { answeredBy: textOf(form, 'answeredBy') });
    onChanged();
  };
  const undo = async () => {
    await client.send('DELETE', path);
    onChanged();
  };
  if (answeredBy !== null)
    return html`<span
      ><span class="quiet">Answered by</span>
      <${FilingLink} account=${account} filingId=${answeredBy} />${' '}${
        mayTriage &&
        html`<${WorkButton} work=${undo} what="undo that" kind="link" name="Not answered after all">Undo<//>`
      }</span
    >`;
  if (!mayTriage) return null;
  return html`<${DialogButton} label="Answered by …" verb="Save" what="save that" kind="small" work=${link}>
    <label
      >Id of the corrected filing <input name="answeredBy" required maxlength="256" autocomplete="off"
    /></label>
    <p class="quiet">A filing with the same policy number, state and type is linked by itself.</p>
  <//>`;
}

const storageKey = 'filing-webhooks.name';

/**
 * The person who took note of a rejection, with a button for those who may.
 * @param {{ account: string, filing: Pick<Rejection, 'filingId' | 'insuredsName' | 'seen'>, onChanged: () =>
 * void }} props
 */
export function SeenBy({ account, filing: { filingId, insuredsName, seen }, onChanged }) {
  const client = useClient();
  const mayTriage = useMayTriage();
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
          mayTriage &&
          html`<${WorkButton} work=${undo} what="undo that" kind="link" name=${`Not seen after all: ${name}`}
            >Undo<//
          >`
        }</span
      >
      ${seen.note && html`<span class="clamp"><${Text} value=${seen.note} /></span>`}
    </span>`;
  if (!mayTriage) return html`<span class="none">nobody yet</span>`;
  return html`<${DialogButton} label="Mark as seen" name=${`Mark as seen: ${name}`} kind="small" work=${mark}>
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
