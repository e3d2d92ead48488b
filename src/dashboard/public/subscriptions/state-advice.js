import { explain, outcomeName } from '../attempts/outcomes.js';
import { presentFailure } from '../data/delivery-stats.js';
import { axisTime, number } from '../parts/format.js';
import { html } from '../parts/html.js';
import { Text } from '../parts/parts.js';

/** @import { Attempt, Subscription } from '../data/api-types.d.ts' */

/**
 * What is wrong with a subscription and what to do; nothing while all is well.
 * @param {{ subscription: Subscription, state: string, attempts: Attempt[], now: number }} props `attempts`:
 * the latest, newest first; `state` as `shownState` has it
 */
export function StateAdvice({ subscription, state, attempts, now }) {
  const { disabledReason, unreadable, lastError, lag } = subscription;
  const obstacle = unreadable ?? lastError;
  if (obstacle !== null)
    return html`<p class="notice warn">Nothing can be sent: <${Text} value=${obstacle} /></p>`;
  if (state === 'active') return null;
  if (state === 'disabled')
    return html`<p class="notice warn">
      It is disabled, so nothing is sent.
      ${disabledReason !== null && html`Reason: <${Text} value=${disabledReason} />.`} Its place in the log is
      kept; enabling it delivers what it missed.
    </p>`;
  if (state === 'degraded')
    return html`<p class="notice warn">
      It is active, but many of its latest attempts failed. The attempts below say which.
    </p>`;
  return html`<p class="notice bad">
    <${Cause} attempts=${attempts} now=${now} /> ${
      lag === 0
        ? 'What it did not take was given up and is among the dead letters; the next event tries it again.'
        : `${number(lag)} pending ${lag === 1 ? 'delivery is' : 'deliveries are'} retried by themselves; what is given up is kept as dead letters.`
    }
  </p>`;
}

/** @param {{ attempts: Attempt[], now: number }} props */
function Cause({ attempts, now }) {
  const failure = presentFailure(attempts);
  if (failure === null) return html`<strong>The endpoint does not acknowledge.</strong> `;
  const { outcome, statusCode, alike, failures, isFromTheStart, since } = failure;
  const what = statusCode === null ? outcomeName(outcome) : `${outcomeName(outcome)} ${statusCode}`;
  const at = Date.parse(since);
  const hasMore = isFromTheStart && failures === attempts.length && failures >= 50;
  const count = `${hasMore ? 'at least ' : ''}${number(alike)} ${alike === 1 ? 'attempt' : 'attempts'}`;
  return html`<strong
      >${what} from ${count}${alike < failures && ` of ${number(failures)} that failed`} since
      <time datetime=${since}>${axisTime(at, Math.max(now - at, 3_600_000))}</time>.</strong
    >
    ${explain(failure).advice}`;
}
