import { ConfirmButton } from '../actions/confirm.js';
import { useClient } from '../data/use-resource.js';
import { html } from '../parts/html.js';
import { descendants } from './family.js';

/** @import { Token } from '../../api-types.ts' */

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
