import { explain, outcomeName } from '../deliveries/outcomes.js';
import { presentFailure } from '../data/delivery-stats.js';
import { clockTime, counted, duration, number } from '../parts/format.js';
import { html } from '../html.js';
import { Badge, Notice, Text, When } from '../parts/parts.js';

/** @import { Attempt, PingAnswer, Subscription } from '../../api-types.ts' */

/**
 * What is wrong with a subscription and what to do; nothing while all is well.
 * @param {{ subscription: Subscription, state: string, attempts: Attempt[], now: number }} props `attempts`:
 * the latest, newest first; `state` as `shownState` has it
 */
export function StateAdvice({ subscription, state, attempts, now }) {
  const { disabledReason, unreadable, lastError, notBefore } = subscription;
  const obstacle = unreadable ?? lastError;
  if (obstacle !== null)
    return html`<p class="notice warn">Nothing can be sent: <${Text} value=${obstacle} /></p>`;
  if (state === 'active') return null;
  if (state === 'disabled')
    return html`<p class="notice warn">
      It is disabled, so nothing is sent.
      ${disabledReason !== null && html`Reason: <${Text} value=${disabledReason} />.`} Its place in the log is
      kept; ${disabledReason === 'expired' ? 'another time under Edit, or none,' : 'enabling it'} delivers
      what it missed.
      ${notBefore?.at && html`Its endpoint is asked <${When} at=${notBefore.at} />, and enabled if it answers 2xx.`}
    </p>`;
  if (state === 'degraded')
    return html`<p class="notice warn">
      It is active, but many of its latest attempts failed. The attempts below say which.
    </p>`;
  return html`<p class="notice bad">
    <${Cause} attempts=${attempts} now=${now} /> ${prospect(subscription)}
  </p>`;
}

/** @param {Subscription} subscription */
function prospect({ lag, nextAttemptAt }) {
  if (lag > 0) {
    const pending = counted(lag, 'pending delivery is', 'pending deliveries are');
    return `${pending} retried by the schedule; what is given up is kept as dead letters.`;
  }
  if (nextAttemptAt !== null) return html`The next retry is <${When} at=${nextAttemptAt} />.`;
  return 'What it did not take was given up and is among the dead letters; the next event tries it again.';
}

/** @param {{ attempts: Attempt[], now: number }} props */
function Cause({ attempts, now }) {
  const failure = presentFailure(attempts);
  if (failure === null) return html`<strong>The endpoint does not acknowledge.</strong> `;
  const { outcome, statusCode, alike, failures, isFromTheStart, since } = failure;
  const hasMore = isFromTheStart && failures === attempts.length && failures >= 50;
  const count = `${hasMore ? 'at least ' : ''}${counted(alike, 'attempt')}`;
  return html`<strong
      >${failureName(outcome, statusCode)} from
      ${count}${alike < failures && ` of ${number(failures)} that failed`} since
      <time datetime=${since}>${clockTime(Date.parse(since), now)}</time>.</strong
    >
    ${explain(failure)}`;
}

/** @type {(outcome: string, statusCode: number | null) => string} */
function failureName(outcome, statusCode) {
  if (statusCode === null) return outcomeName(outcome);
  return outcome === 'http_error' ? `HTTP error ${statusCode}` : `${outcomeName(outcome)} (${statusCode})`;
}

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
    ${!good && html`<p>${explain({ outcome, statusCode })}</p>`}
    ${response && html`<pre tabindex="0"><bdi>${response}</bdi></pre>`}
  <//>`;
}

/**
 * Settings that were accepted although they are likely mistakes; nothing if there are none.
 * @param {{ warnings: readonly string[] | undefined }} props
 */
export function Warnings({ warnings = [] }) {
  if (warnings.length === 0) return null;
  return html`<${Notice} tone="warn">
    ${warnings.map((warning) => html`<p key=${warning}><${Text} value=${warning} /></p>`)}
  <//>`;
}
