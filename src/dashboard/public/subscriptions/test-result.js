import { explain, outcomeName } from '../attempts/outcomes.js';
import { duration } from '../parts/format.js';
import { html } from '../parts/html.js';
import { Badge, Notice, Text } from '../parts/parts.js';

/** @import { PingAnswer } from '../../api-types.ts' */

/**
 * The outcome of a test, with the response of the endpoint.
 * @param {{ ping: PingAnswer }} props
 */
export function TestResult({ ping: { outcome, reason, statusCode, durationMs, response } }) {
  const good = outcome === 'delivered';
  const answer = statusCode === null ? 'without a response' : `with status ${statusCode}`;
  return html`<${Notice} tone=${good ? 'good' : 'bad'}>
    <p>
      Test: <${Badge} word=${outcomeName(outcome)} tone=${good ? 'good' : 'bad'} /> ${answer} after
      ${duration(durationMs)}. ${reason !== null && html`<${Text} value=${reason} />`}
    </p>
    ${!good && html`<p>${explain({ outcome, statusCode }).advice}</p>`}
    ${response && html`<pre tabindex="0"><bdi>${response}</bdi></pre>`}
  <//>`;
}
