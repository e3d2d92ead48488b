import { html, useState } from '../html.js';
import { apiPath, useResource } from '../data/api.js';
import { CopyButton } from './copying.js';
import { Section, Text, When, whenRead } from './parts.js';

/** @import { Draft } from '../../api-types.ts' */
/** @import { Resource } from '../data/api.js' */

// The service is asked again only when the page is opened again.
const refreshMs = 3_600_000;

/**
 * The draft of a rejected filing, folded: the service is asked once it is opened.
 * @param {{ account: string, filingId: string }} props
 */
export function WhatToFix({ account, filingId }) {
  const [isOpen, setOpen] = useState(false);
  const toggle = (/** @type {Event} */ { currentTarget }) =>
    setOpen(/** @type {HTMLDetailsElement} */ (currentTarget).open);
  return html`<details class="fold" onToggle=${toggle}>
    <summary>What to fix</summary>
    ${isOpen && html`<${DraftOf} account=${account} filingId=${filingId} />`}
  </details>`;
}

/** @param {{ account: string, filingId: string }} props */
function DraftOf({ account, filingId }) {
  /** @type {Resource<Draft>} */
  const reading = useResource(apiPath('accounts', account, 'filings', filingId, 'draft'), refreshMs);
  return whenRead(reading, 'what the service asks for', (draft) => html`<${DraftText} draft=${draft} />`);
}

/** @param {{ draft: Draft }} props */
function DraftText({ draft }) {
  const { readAt, requirements, documents, otherFiles, body, unknown } = draft;
  const text = JSON.stringify(body, null, 2);
  const missing = documents.filter(({ isPresent }) => !isPresent);
  return html`<div class="known">
    <p class="quiet">
      Read from the partner service <${When} at=${readAt} />. Nothing is sent to it from here.
    </p>
    <${Section} title="Documents">
      ${documents.length === 0 && html`<p>The service names none for this filing.</p>`}
      ${missing.length > 0 && html`<p class="toned bad">${missing.length} of ${documents.length} are missing.</p>`}
      <ul>
        ${documents.map(
          ({ name, isPresent, fileName }) =>
            html`<li key=${name}>
              <${Text} value=${name} />:
              ${isPresent ? html`<${Text} value=${fileName} />` : html`<strong class="toned bad">missing</strong>`}
            </li>`,
        )}
        ${otherFiles.map((name) => html`<li key=${name}><${Text} value=${name} /> <span class="quiet">(not asked for)</span></li>`)}
      </ul>
    <//>
    <${Section} title="Requirements of the state">
      ${
        requirements
          ? html`<pre tabindex="0"><bdi>${requirements}</bdi></pre>`
          : html`<p>The service gives none for this filing.</p>`
      }
    <//>
    <${Section} title=${html`Body of create-filing <${CopyButton} text=${text} what="the body" />`}>
      ${unknown.length > 0 && html`<p>Not known, to be filled in: <${Text} value=${unknown.join(', ')} />.</p>`}
      <pre tabindex="0"><bdi>${text}</bdi></pre>
    <//>
  </div>`;
}
