import { html } from '../html.js';
import { apiPath, useClient, useList } from '../data/api.js';
import { AccountHeading } from '../parts/account-parts.js';
import { Choice, DialogButton, Select, textOf } from '../parts/forms.js';
import { fullTime } from '../parts/format.js';
import { ShownOnce } from '../parts/copying.js';
import { Badge, Text, useNow, When } from '../parts/parts.js';
import { ListTable } from '../parts/tables.js';
import { useMayWrite } from '../session.js';

/** @import { Token } from '../../api-types.ts' */
/** @import { List } from '../data/api.js' */

const refreshMs = 15_000;

// Milliseconds after which a token or a link ends.
const spans = /** @type {const} */ ([
  [3_600_000, '1 hour'],
  [86_400_000, '1 day'],
  [604_800_000, '7 days'],
  [2_592_000_000, '30 days'],
  [31_536_000_000, '1 year'],
]);

/** @type {readonly [string, string][]} */
const rightsOfLinks = [
  ['read', 'Read only: sees everything but the paths of endpoint URLs and the responses of receivers'],
  ['triage', 'Triage: sees the same, and may mark rejections as seen, write notes and assign filings'],
];

const rights = [
  ...rightsOfLinks,
  [
    'own',
    'Own subscriptions: sees the same, and manages the subscriptions that it makes; for a tool such as n8n',
  ],
  ['manage', 'Read and write: sees everything, and may also change subscriptions and tokens'],
];

// The fate of the tokens that a revoked one made.
const fates = [
  ['revoke', 'Revoke them too'],
  ['keep', 'Keep them'],
];

/**
 * The tokens that open an account, and links to it.
 * @param {{ account: string }} props
 */
export function TokensPage({ account }) {
  const path = apiPath('accounts', account, 'tokens');
  const mayWrite = useMayWrite();
  const now = useNow();
  /** @type {List<Token>} */
  const list = useList(`${path}?limit=100`, refreshMs);
  const rowsOf = (/** @type {Token[]} */ tokens) =>
    tokens.map((token) => {
      const revoke = html`<${RevokeButton}
        path=${path}
        token=${token}
        tokens=${tokens}
        onDone=${list.reload}
      />`;
      return { key: token.id, cells: [...cellsOf(token, tokens, now), revoke] };
    });
  const columns = ['Name', 'Kind', 'Rights', 'Made by', 'Created', 'Last used', 'Expires'];
  return html`<${AccountHeading} account=${account} at="tokens" title="Tokens" />
    <p class="quiet">
      A token opens this account only: for the API, the command line and this page. A link opens its pages in
      a browser without a token.
    </p>
    ${
      mayWrite &&
      html`<div class="buttons">
        <${NewTokenButton} path=${path} onDone=${list.reload} />
        <${ShareLinkButton} account=${account} onDone=${list.reload} />
      </div>`
    }
    <${ListTable}
      of=${list}
      what="the tokens"
      caption="Tokens"
      columns=${mayWrite ? [...columns, 'Action'] : columns}
      rowsOf=${rowsOf}
      empty="There is no token yet. Only the operator opens this account."
    />`;
}

/** @type {(token: Token, tokens: readonly Token[], now: number) => unknown[]} */
function cellsOf(
  { name, right, link, subscriptions, parent, createdAt, lastUsedAt, expiresAt },
  tokens,
  now,
) {
  const maker = parent === null ? 'the operator' : (tokens.find(({ id }) => id === parent)?.name ?? parent);
  const managed = subscriptions === 'own' ? 'own subscriptions' : 'read and write';
  const words = { read: 'read only', triage: 'triage', manage: managed };
  return [
    html`<${Text} value=${name} />`,
    link ? 'link' : 'token',
    html`<${Badge} word=${words[right]} tone=${right === 'read' ? 'plain' : 'info'} />`,
    html`<${Text} value=${maker} />`,
    html`<${When} at=${createdAt} />`,
    html`<${When} at=${lastUsedAt} />`,
    expiresAt === null
      ? html`<span class="none">never</span>`
      : html`${Date.parse(expiresAt) <= now && html`<strong class="toned warn">expired</strong>${' '}`}
          <time datetime=${expiresAt}>${fullTime(Date.parse(expiresAt))}</time>`,
  ];
}

// Makes a token and shows its text once.
/** @param {{ path: string, onDone: () => void }} props */
function NewTokenButton({ path, onDone }) {
  const client = useClient();
  const make = async (/** @type {FormData} */ form) => {
    const span = Number(form.get('span'));
    const right = form.get('rights');
    const { token } = await client.send('POST', path, {
      name: textOf(form, 'name'),
      ...(right === 'own' ? { right: 'manage', subscriptions: 'own' } : { right }),
      ...(span === 0 ? {} : { expiresAt: new Date(client.now() + span).toISOString() }),
    });
    onDone();
    const shown = html`<${ShownOnce} what="token" label="Token" value=${token}>
      Give it to its user before you close this.
    <//>`;
    return { shown };
  };
  return html`<${DialogButton}
    label="New token …"
    verb="Make the token"
    what="make the token"
    kind="primary"
    work=${make}
  >
    <${Name} label="Name" placeholder="Who or what uses it" />
    <${Choice} name="rights" legend="Rights" value="read" options=${rights} />
    <${Select}
      name="span"
      label="Expires after"
      options=${[[0, 'never, or with your own token'], ...spans]}
      value=${0}
    />
  <//>`;
}

// Makes a link that opens this account's pages without a token.
/** @param {{ account: string, onDone: () => void }} props */
function ShareLinkButton({ account, onDone }) {
  const client = useClient();
  const make = async (/** @type {FormData} */ form) => {
    const [name, right] = [textOf(form, 'name'), textOf(form, 'rights')];
    const body = { name, right, expiresInMs: Number(form.get('span')) };
    const { url, expiresAt } = await client.send('POST', apiPath('accounts', account, 'links'), body);
    onDone();
    const shown = html`<${ShownOnce} what="link" label="Link" value=${url} />
      <p class="quiet">It expires on ${fullTime(Date.parse(expiresAt))}.</p>`;
    return { shown };
  };
  return html`<${DialogButton} label="Share a link …" verb="Make the link" work=${make}>
    <p>
      Everyone with the link sees the pages of <bdi class="text">${account}</bdi> until it expires. It needs
      no token. The list below shows it, and revoking it there ends it.
    </p>
    <${Name} label="For whom" placeholder="Such as the agency’s name" />
    <${Choice} name="rights" legend="Rights" value="read" options=${rightsOfLinks} />
    <${Select} name="span" label="Expires after" options=${spans} value=${604_800_000} />
  <//>`;
}

/** @param {{ label: string, placeholder: string }} props */
function Name({ label, placeholder }) {
  return html`<label
    >${label} <input name="name" required maxlength="100" autocomplete="off" placeholder=${placeholder}
  /></label>`;
}

// Revokes a token, after naming those that end with it.
/** @param {{ path: string, token: Token, tokens: readonly Token[], onDone: () => void }} props */
function RevokeButton({ path, token: { id, name, link }, tokens, onDone }) {
  const client = useClient();
  const children = descendants(tokens, id);
  const revoke = async (/** @type {FormData} */ form) => {
    const keep = form.get('children') === 'keep' ? '?children=keep' : '';
    await client.send('DELETE', `${path}/${encodeURIComponent(id)}${keep}`);
    onDone();
  };
  return html`<${DialogButton}
    label="Revoke …"
    title=${`Revoke the ${link ? 'link' : 'token'} ${name}`}
    kind="danger"
    work=${revoke}
  >
    <p>
      ${link ? 'It opens nothing more, and who has opened it is signed out.' : 'Requests with it are refused from now on.'}
      This cannot be undone.
    </p>
    ${
      children.length > 0 &&
      html`<${Choice} name="children" legend="Tokens that were made with it" value="revoke" options=${fates}>
        <p><bdi class="text">${children.map((child) => child.name).join(', ')}</bdi></p>
      <//>`
    }
  <//>`;
}

// The tokens that a token made, and those that they made.
/** @type {(tokens: readonly Token[], id: string) => Token[]} */
function descendants(tokens, id) {
  const children = tokens.filter(({ parent }) => parent === id);
  return children.flatMap((child) => [child, ...descendants(tokens, child.id)]);
}
