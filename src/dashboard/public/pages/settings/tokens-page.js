import { apiPath } from '../../data/api-client.js';
import { useMayWrite } from '../../data/session-context.js';
import { useList } from '../../data/use-resource.js';
import { AccountNav } from '../../parts/account-parts.js';
import { fullTime } from '../../parts/format.js';
import { html } from '../../parts/html.js';
import { Badge, Failure, Heading, Loading, Text, When } from '../../parts/parts.js';
import { Table } from '../../parts/table.js';
import { href } from '../../router.js';
import { NewTokenButton } from '../../tokens/new-token.js';
import { RevokeButton } from '../../tokens/revoke.js';
import { ShareLinkButton } from '../../tokens/share-link.js';

/** @import { Token } from '../../../api-types.ts' */
/** @import { List } from '../../data/use-resource.js' */

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
