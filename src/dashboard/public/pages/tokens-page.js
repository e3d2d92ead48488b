import { apiPath } from '../data/api-client.js';
import { useMayWrite } from '../session.js';
import { useList, useClient } from '../data/use-resource.js';
import { AccountNav } from '../parts/account-parts.js';
import { fullTime } from '../parts/format.js';
import { html } from '../html.js';
import { Badge, Failure, Heading, Loading, Text, When, SecretField } from '../parts/parts.js';
import { Table } from '../parts/table.js';
import { href } from '../router.js';
import { useState } from '../vendor/hooks.js';
import { Dialog, DialogForm, useAction, ConfirmButton } from '../parts/actions.js';
import { textOf } from '../parts/fields.js';

/** @import { Token } from '../../api-types.ts' */
/** @import { List } from '../data/use-resource.js' */

const refreshMs = 15_000;

/**
 * The tokens that open an account, and links to it.
 * @param {{ account: string }} props
 */
export function TokensPage({ account }) {
  const path = apiPath('accounts', account, 'tokens');
  const mayWrite = useMayWrite();
  /** @type {List<Token>} */
  const { data, error, reload, showMore } = useList(`${path}?limit=100`, refreshMs);
  const tokens = data?.items ?? [];
  return html`<${Heading} title="Tokens" crumbs=${[[account, href('accounts', account)]]} />
    <${AccountNav} account=${account} at="tokens" />
    <p class="quiet">
      A token opens this account only: for the API, the command line and this page. A link opens its pages in
      a browser without a token.
    </p>
    ${
      mayWrite &&
      html`<div class="buttons">
        <${NewTokenButton} path=${path} onDone=${reload} />
        <${ShareLinkButton} account=${account} onDone=${reload} />
      </div>`
    }
    <${Failure} error=${error} what="read the tokens" />
    ${data === null && error === null && html`<${Loading} what="the tokens" />`}
    ${
      data !== null &&
      html`<${Table}
        caption="Tokens"
        columns=${['Name', 'Kind', 'Rights', 'Made by', 'Created', 'Last used', 'Expires', ...(mayWrite ? ['Action'] : [])]}
        rows=${tokens.map((token) => ({
          key: token.id,
          cells: [
            ...cellsOf(token, tokens),
            ...(mayWrite
              ? [html`<${RevokeButton} path=${path} token=${token} tokens=${tokens} onDone=${reload} />`]
              : []),
          ],
        }))}
        empty="There is no token yet. Only the operator opens this account."
        more=${data.more}
        onMore=${showMore}
      />`
    }`;
}

/** @type {(token: Token, tokens: readonly Token[]) => unknown[]} */
function cellsOf({ name, readOnly, link, subscriptions, parent, createdAt, lastUsedAt, expiresAt }, tokens) {
  const maker = parent === null ? 'the operator' : (tokens.find(({ id }) => id === parent)?.name ?? parent);
  return [
    html`<${Text} value=${name} />`,
    link ? 'link' : 'token',
    html`<${Badge}
      word=${readOnly ? 'read only' : subscriptions === 'own' ? 'own subscriptions' : 'read and write'}
      tone=${readOnly ? 'plain' : 'info'}
    />`,
    html`<${Text} value=${maker} />`,
    html`<${When} at=${createdAt} />`,
    html`<${When} at=${lastUsedAt} />`,
    expiresAt === null
      ? html`<span class="none">never</span>`
      : html`<time datetime=${expiresAt}>${fullTime(Date.parse(expiresAt))}</time>`,
  ];
}

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

/**
 * Revokes a token, after naming those that end with it.
 * @param {{ path: string, token: Token, tokens: readonly Token[], onDone: () => void }} props `path`: of the
 * tokens
 */
export function RevokeButton({ path, token: { id, name }, tokens, onDone }) {
  const client = useClient();
  const children = descendants(tokens, id);
  const revoke = async (/** @type {FormData} */ form) => {
    const keep = form.get('children') === 'keep' ? '?children=keep' : '';
    await client.send('DELETE', `${path}/${encodeURIComponent(id)}${keep}`);
    onDone();
  };
  return html`<${ConfirmButton}
    label="Revoke …"
    title=${`Revoke the token ${name}`}
    verb="Revoke"
    what="revoke the token"
    kind="danger"
    work=${revoke}
  >
    <p>Requests with it are refused from now on. This cannot be undone.</p>
    ${
      children.length > 0 &&
      html`<fieldset>
        <legend>Tokens that were made with it</legend>
        <p><bdi class="text">${children.map((child) => child.name).join(', ')}</bdi></p>
        <label><input type="radio" name="children" value="revoke" checked /> Revoke them too</label>
        <label><input type="radio" name="children" value="keep" /> Keep them</label>
      </fieldset>`
    }
  <//>`;
}

/**
 * The tokens that are revoked with a token: those that it made, and those that they made; pure.
 * @param {readonly Token[]} tokens
 * @param {string} id
 * @returns {Token[]}
 */
export function descendants(tokens, id) {
  const children = tokens.filter(({ parent }) => parent === id);
  return children.flatMap((child) => [child, ...descendants(tokens, child.id)]);
}

/** Spans after which a token or a link ends, in milliseconds. */
export const spans = /** @type {const} */ ([
  [3_600_000, '1 hour'],
  [86_400_000, '1 day'],
  [604_800_000, '7 days'],
  [2_592_000_000, '30 days'],
  [31_536_000_000, '1 year'],
]);
