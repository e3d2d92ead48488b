import { SendAgain } from '../../attempts/send-again.js';
import { AttemptsTable } from '../../attempts/attempts-table.js';
import { EventDeliveries } from '../../attempts/event-deliveries.js';
import { Exchange } from '../../attempts/exchange.js';
import { explain, outcomeName, outcomeTone } from '../../attempts/outcomes.js';
import { CopyButton } from '../../actions/copy.js';
import { apiPath } from '../../data/api-client.js';
import { useMayWrite } from '../../data/session-context.js';
import { useResource } from '../../data/use-resource.js';
import { AccountNav } from '../../parts/account-parts.js';
import { duration, fullTime } from '../../parts/format.js';
import { html } from '../../parts/html.js';
import { Badge, Facts, Failure, FilingLink, Heading, Loading, Text, When } from '../../parts/parts.js';
import { href } from '../../router.js';

/** @import { Subscription } from '../../../api-types.ts' */
/** @import { AttemptDetails } from '../../../api-types.ts' */
/** @import { Resource } from '../../data/use-resource.js' */

// An attempt does not change, but later attempts may come.
const refreshMs = 10_000;
const onceMs = 600_000;

/**
 * One attempt: what was sent, what came back, what to do, and the other attempts of its event.
 * @param {{ account: string, id: string }} props
 */
export function AttemptPage({ account, id }) {
  /** @type {Resource<AttemptDetails>} */
  const { data: attempt, error } = useResource(apiPath('accounts', account, 'attempts', id), refreshMs);
  const crumbs = [
    [account, href('accounts', account)],
    ['Subscriptions', href('accounts', account, 'subscriptions')],
    ...(attempt === null
      ? []
      : [['The subscription', href('accounts', account, 'subscriptions', attempt.subscription)]]),
  ];
  return html`<${Heading} title="Attempt" crumbs=${crumbs}>
      ${
        attempt !== null &&
        html`<${Badge} word=${outcomeName(attempt.outcome)} tone=${outcomeTone(attempt.outcome)} />
          <span class="quiet"><${When} at=${attempt.at} /></span>`
      }
    <//>
    <${AccountNav} account=${account} at="subscriptions" />
    <${Failure} error=${error} what="read the attempt" />
    ${attempt === null && error === null && html`<${Loading} what="the attempt" />`}
    ${attempt !== null && html`<${Details} account=${account} attempt=${attempt} />`}`;
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
      <${Others} account=${account} attempt=${attempt} />
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
      [
        'Filing',
        filingId === null
          ? html`<${Text} value=${null} />`
          : html`<${FilingLink} account=${account} filingId=${filingId} />`,
      ],
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

/** @param {{ account: string, attempt: AttemptDetails }} props */
function Others({ account, attempt }) {
  return html`<${AttemptsTable}
    account=${account}
    attempts=${[...attempt.later, attempt, ...attempt.earlier]}
    present=${attempt.id}
    empty=""
    more=${false}
    onMore=${() => {}}
  />`;
}
