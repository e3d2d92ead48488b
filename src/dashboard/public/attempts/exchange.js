import { CopyButton } from '../actions/copy.js';
import { html } from '../parts/html.js';
import { Text } from '../parts/parts.js';

/** @import { AttemptDetails } from '../../api-types.ts' */

/**
 * The request of an attempt as it was sent, and the response.
 * @param {{ attempt: AttemptDetails }} props
 */
export function Exchange({ attempt: { request, requestMissing, statusCode, responseHeaders, response } }) {
  return html`<div class="halves">
    <section aria-labelledby="request">
      <h2 id="request">Request</h2>
      ${
        request === null
          ? html`<p class="empty"><${Text} value=${requestMissing ?? 'It is no longer kept.'} /></p>`
          : html`<p class="code">POST <${Text} value=${request.url} /></p>
              <${Headers} headers=${request.headers} of="the request" />
              <${Body} text=${request.body} what="the request body" />`
      }
    </section>
    <section aria-labelledby="response">
      <h2 id="response">Response</h2>
      ${
        statusCode === null
          ? html`<p class="empty">There was no response.</p>`
          : html`<p class="code">Status ${statusCode}</p>
              ${
                responseHeaders === null
                  ? html`<p class="quiet">
                      Its headers were not kept (DELIVERY_ATTEMPT_DETAILS), or are hidden.
                    </p>`
                  : html`<${Headers} headers=${responseHeaders} of="the response" />`
              }
              <${Body} text=${response} what="the response body" />
              <p class="quiet">At most the first 1 KiB of a response is kept.</p>`
      }
    </section>
  </div>`;
}

/** @param {{ headers: Record<string, string>, of: string }} props */
function Headers({ headers, of }) {
  const entries = Object.entries(headers);
  if (entries.length === 0) return html`<p class="quiet">No headers.</p>`;
  return html`<dl class="headers" aria-label=${`Headers of ${of}`}>
    ${entries.map(
      ([name, value]) =>
        html`<div key=${name}>
          <dt><${Text} value=${name} /></dt>
          <dd><${Text} value=${value} /></dd>
        </div>`,
    )}
  </dl>`;
}

/** @param {{ text: string | null, what: string }} props */
function Body({ text, what }) {
  if (text === null || text === '') return html`<p class="quiet">No body.</p>`;
  return html`<div class="buttons"><${CopyButton} text=${text} what=${what} /></div>
    <pre tabindex="0" role="group" aria-label=${what}><bdi>${indented(text)}</bdi></pre>`;
}

/** @type {(text: string) => string} */
function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
