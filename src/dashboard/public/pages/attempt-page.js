import { html, useState } from '../html.js';
import { apiPath, useClient, useResource } from '../data/api.js';
import { AttemptsTable, EventDeliveries, OutcomeBadge } from '../deliveries/attempts.js';
import { explain, outcomeName } from '../deliveries/outcomes.js';
import { ReplayProgress } from '../deliveries/replay.js';
import { AccountHeading } from '../parts/account-parts.js';
import { WorkButton } from '../parts/forms.js';
import { duration, fullTime } from '../parts/format.js';
import { CopyButton } from '../parts/copying.js';
import { Badge, Facts, FilingLink, Section, Text, When, whenRead } from '../parts/parts.js';
import { href } from '../router.js';
import { useMayWrite } from '../session.js';

/** @import { AttemptDetails, Subscription } from '../../api-types.ts' */
/** @import { Resource } from '../data/api.js' */

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
  const below = attempt && [
    ['The subscription', href('accounts', account, 'subscriptions', attempt.subscription)],
  ];
  return html`<${AccountHeading} account=${account} at="subscriptions" title="Attempt" below=${below ?? []}>
      ${
        attempt !== null &&
        html`<${OutcomeBadge} outcome=${attempt.outcome} />
          <span class="quiet"><${When} at=${attempt.at} /></span>`
      }
    <//>
    ${whenRead(reading, 'the attempt', (data) => html`<${Details} account=${account} attempt=${data} />`)}`;
}

/** @param {{ account: string, attempt: AttemptDetails }} props */
function Details({ account, attempt }) {
  const { id, outcome, statusCode, reason, eventType, eventId, filingId, earlier, later } = attempt;
  const mayWrite = useMayWrite();
  // A test is in no log.
  const isLogged = eventType !== 'ping';
  return html`<p class=${`notice ${outcome === 'delivered' ? 'good' : 'warn'}`}>
      <strong>${outcomeName(outcome)}${statusCode !== null && `, status ${statusCode}`}.</strong>
      ${reason ?? explain(attempt)}
    </p>
    <${AttemptFacts} account=${account} attempt=${attempt} />
    ${mayWrite && isLogged && html`<${SendAgain} account=${account} attempt=${attempt} />`}
    ${
      isLogged &&
      html`<${Section} title="Who has this event"
        ><${EventDeliveries} account=${account} eventId=${eventId} filingId=${filingId}
      /><//>`
    }
    <${Exchange} attempt=${attempt} />
    <${Section} title="Attempts of this event at this endpoint"
      ><${AttemptsTable} account=${account} attempts=${[...later, attempt, ...earlier]} present=${id}
    /><//>`;
}

/** @param {{ account: string, attempt: AttemptDetails }} props */
function AttemptFacts({ account, attempt }) {
  const { subscription, eventId, eventType, filingId, at, durationMs, replay } = attempt;
  /** @type {Resource<Subscription>} */
  const { data } = useResource(apiPath('accounts', account, 'subscriptions', subscription), onceMs);
  const event = html`<span class="code"><${Text} value=${eventId} /></span>
    <${CopyButton} text=${eventId} what="the event id" />`;
  const receiver = html`<a href=${href('accounts', account, 'subscriptions', subscription)}
    ><${Text} value=${data?.description || data?.url || subscription}
  /></a>`;
  return html`<${Facts}
    items=${[
      ['Event id', event, 'wide'],
      ['Event', html`<${Badge} word=${eventType} />`],
      ['Filing', html`<${FilingLink} account=${account} filingId=${filingId} />`],
      ['Subscription', receiver],
      ['Attempt', String(attempt.attempt)],
      ['Ended', fullTime(Date.parse(at))],
      ['Took', duration(durationMs)],
      !!replay && ['Part of', html`the replay <${Text} value=${replay} />`, 'wide'],
    ]}
  />`;
}

// The request as it was sent, and the response.
/** @param {{ attempt: AttemptDetails }} props */
function Exchange({ attempt: { request, requestMissing, statusCode, responseHeaders, response } }) {
  return html`<div class="halves">
    <${Section} title="Request">
      ${
        request === null
          ? html`<p class="empty"><${Text} value=${requestMissing ?? 'It is no longer kept.'} /></p>`
          : html`<p class="code">POST <${Text} value=${request.url} /></p>
              <${Content} of="request" headers=${request.headers} body=${request.body} />`
      }
    <//>
    <${Section} title="Response">
      ${
        statusCode === null
          ? html`<p class="empty">There was no response.</p>`
          : html`<p class="code">Status ${statusCode}</p>
              <${Content} of="response" headers=${responseHeaders} body=${response} />
              <p class="quiet">At most the first 1 KiB of a response is kept.</p>`
      }
    <//>
  </div>`;
}

/** @param {{ of: string, headers: Record<string, string> | null, body: string | null }} props */
function Content({ of, headers, body }) {
  const what = `the ${of} body`;
  return html`${
    headers === null
      ? html`<p class="quiet">Its headers were not kept (DELIVERY_ATTEMPT_DETAILS), or are hidden.</p>`
      : html`<dl class="headers" aria-label=${`Headers of the ${of}`}>
          ${Object.entries(headers).map(
            ([name, value]) =>
              html`<div key=${name}>
                <dt><${Text} value=${name} /></dt>
                <dd><${Text} value=${value} /></dd>
              </div>`,
          )}
        </dl>`
  }
  ${
    body
      ? html`<div class="buttons"><${CopyButton} text=${body} what=${what} /></div>
          <pre tabindex="0" role="group" aria-label=${what}><bdi>${indented(body)}</bdi></pre>`
      : html`<p class="quiet">No body.</p>`
  }`;
}

/** @type {(text: string) => string} */
function indented(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

// Delivers the event once more to the same endpoint.
/** @param {{ account: string, attempt: AttemptDetails }} props */
function SendAgain({ account, attempt: { subscription, eventId } }) {
  const client = useClient();
  const [started, setStarted] = useState(/** @type {{ id: string, matched: number } | null} */ (null));
  const send = async () => {
    const path = apiPath('accounts', account, 'subscriptions', subscription, 'replay');
    setStarted(await client.send('POST', path, { eventIds: [eventId] }));
  };
  return html`<div class="buttons">
      <${WorkButton} work=${send} what="send it again" kind="primary">Send again<//>
    </div>
    ${started && html`<${ReplayProgress} key=${started.id} account=${account} started=${started} />`}`;
}
