import { html } from '../html.js';
import { At, Badge, Text, When } from '../parts.js';
import { href } from '../../router.js';

/** @import { RejectionPage } from '../../../api-types.ts' */

const shownMax = 10;

/**
 * The accounts whose rejections are not known, or are those of an earlier time; nothing while all are
 * current.
 * @param {{ accounts: RejectionPage['accounts'], total: number }} props `total`: also of those that are not
 * named, which are current
 */
export function BoardHealth({ accounts, total }) {
  const troubled = accounts.filter(({ health }) => health !== 'ok');
  if (troubled.length === 0) return null;
  return html`<div class="notice warn" role="status">
    <p>
      <strong
        >${
          troubled.length === 1
            ? 'One account is not current'
            : `${troubled.length} of ${total} accounts are not current`
        }:</strong
      >
      there may be rejections that are not shown.
    </p>
    <ul>
      ${troubled.slice(0, shownMax).map(
        ({ account, health, asOf }) =>
          html`<li key=${account}>
            <a href=${href('accounts', account)}><${Text} value=${account} /></a>
            <${Badge} word=${health} />${' '}
            ${asOf === null ? health !== 'unknown' && 'not known yet' : html`as of <${At} at=${asOf} />, <${When} at=${asOf} />`}
          </li>`,
      )}
    </ul>
    ${troubled.length > shownMax && html`<p>… and ${troubled.length - shownMax} more.</p>`}
  </div>`;
}
