import { AttemptsTable } from '../deliveries/attempts.js';
import { EventDeliveries } from '../deliveries/event-deliveries.js';
import { explain, outcomeName, outcomeTone } from '../deliveries/outcomes.js';
import { CopyButton, Badge, Facts, Failure, FilingLink, Reading, Text, When } from '../parts/parts.js';
import { apiPath } from '../data/api-client.js';
import { useMayWrite } from '../session.js';
import { useResource, useClient } from '../data/use-resource.js';
import { AccountHeading } from '../parts/account-parts.js';
import { duration, fullTime } from '../parts/format.js';
import { html } from '../html.js';
import { href } from '../router.js';
import { useState } from '../vendor/hooks.js';
import { ActionButton, useAction } from '../parts/actions.js';
import { ReplayProgress } from '../deliveries/replay.js';

/** @import { Subscription, AttemptDetails } from '../../api-types.ts' */
/** @import { Resource } from '../data/use-resource.js' */

// An attempt does not change, but later attempts may come.
const refreshMs = 10_000;
const onceMs = 600_000;

/**
 * One attempt: what was sent, what came back, what to do, and the other attempts of its event.
 * @param {{ account: string, id: string }} props
 */
export function AttemptPage({ account, id }) {
  /** @type {Resource<AttemptDetails>} */
  const reading = useResource(apiPath('accounts', account, 'attempts', id), refreshMs);
  const attempt = reading.data;
  const below =
    attempt === null
      ? []
      : [['The subscription', href('accounts', account, 'subscriptions', attempt.subscription)]];
  return html`<${AccountHeading} account=${account} at="subscriptions" title="Attempt" below=${below}>
      ${
        attempt !== null &&
        html`<${Badge} word=${outcomeName(attempt.outcome)} tone=${outcomeTone(attempt.outcome)} />
          <span class="quiet"><${When} at=${attempt.at} /></span>`
      }
    <//>
    <${Reading}
      of=${reading}
      what="the attempt"
      show=${(/** @type {AttemptDetails} */ data) => html`<${Details} account=${account} attempt=${data} />`}
    />`;
}

/** @param {{ account: string, attempt: AttemptDetails }} props */
function Details({ account, attempt }) {
  const { meaning, advice } = explain(attempt);
  const mayWrite = useMayWrite();
  return html`<p class=${`notice ${attempt.outcome === 'delivered' ? 'good' : 'warn'}`}>
      <strong>${meaning} ${attempt.statusCode !== null && `Status ${attempt.statusCode}.`}</strong>
      ${attempt.reason ?? advice}
    </p>
    <${AttemptFacts} account=${account} attempt=${attempt} />
    ${mayWrite && html`<${SendAgain} account=${account} attempt=${attempt} />`}
    ${
      attempt.eventType !== 'ping' &&
      html`<section aria-labelledby="who">
        <h2 id="who">Who has this event</h2>
        <${EventDeliveries} account=${account} eventId=${attempt.eventId} filingId=${attempt.filingId} />
      </section>`
    }
    <${Exchange} attempt=${attempt} />
    <section aria-labelledby="others">
      <h2 id="others">Attempts of this event at this endpoint</h2>
      <${AttemptsTable}
        account=${account}
        attempts=${[...attempt.later, attempt, ...attempt.earlier]}
        present=${attempt.id}
      />
    </section>`;
}

/** @param {{ account: string, attempt: AttemptDetails }} props */
function AttemptFacts({ account, attempt }) {
  const { subscription, eventId, eventType, filingId, at, durationMs, replay } = attempt;
  /** @type {Resource<Subscription>} */
  const { data } = useResource(apiPath('accounts', account, 'subscriptions', subscription), onceMs);
  return html`<${Facts}
    items=${[
      [
        'Event id',
        html`<span class="code"><${Text} value=${eventId} /></span>
          <${CopyButton} text=${eventId} what="the event id" />`,
        'wide',
      ],
      ['Event', html`<${Badge} word=${eventType} />`],
      ['Filing', html`<${FilingLink} account=${account} filingId=${filingId} />`],
      [
        'Subscription',
        html`<a href=${href('accounts', account, 'subscriptions', subscription)}
          ><${Text} value=${data?.description || data?.url || subscription}
        /></a>`,
      ],
      ['Attempt', String(attempt.attempt)],
      ['Ended', fullTime(Date.parse(at))],
      ['Took', duration(durationMs)],
      ...(replay === null || replay === undefined
        ? []
        : [['Part of', html`the replay <${Text} value=${replay} />`, 'wide']]),
    ]}
  />`;
}

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

/**
 * Delivers the event of an attempt once more to the same endpoint.
 * @param {{ account: string, attempt: AttemptDetails }} props
 */
export function SendAgain({ account, attempt: { subscription, eventId, eventType } }) {
  const client = useClient();
  const action = useAction();
  const [started, setStarted] = useState(/** @type {{ id: string, matched: number } | null} */ (null));
  // A test is in no log.
  if (eventType === 'ping') return null;
  const send = async () => {
    const path = apiPath('accounts', account, 'subscriptions', subscription, 'replay');
    setStarted(await client.send('POST', path, { eventIds: [eventId] }));
  };
  return html`<div class="buttons">
      <${ActionButton} action=${action} work=${send} kind="primary">Send again<//>
    </div>
    <${Failure} error=${action.error} what="send it again" />
    ${
      started !== null && html`<${ReplayProgress} key=${started.id} account=${account} started=${started} />`
    }`;
}
