import { AccountNav } from '../parts/account-parts.js';
import { apiPath } from '../data/api-client.js';
import { eventFacts, withKnownDetails } from '../data/filing-event.js';
import { dollars, spaced } from '../parts/format.js';
import { html } from '../parts/html.js';
import { Badge, Facts, Failure, Heading, Loading, Notice, Text, When } from '../parts/parts.js';
import { href } from '../router.js';
import { useResource } from '../data/use-resource.js';

/** @import { FilingEvent, FilingWithEvents } from '../data/api-types.d.ts' */
/** @import { Resource } from '../data/use-resource.js' */

const refreshMs = 5000;

/**
 * One filing as the daemon last saw it, and its events.
 * @param {{ account: string, id: string }} props
 */
export function FilingPage({ account, id: filingId }) {
  const path = apiPath('accounts', account, 'filings', filingId);
  /** @type {Resource<FilingWithEvents>} */
  const { data, error } = useResource(path, refreshMs);
  const filing = data === null ? null : withKnownDetails(data);
  return html`<${Heading}
      title=${filing?.insuredsName || filingId}
      crumbs=${[
        [account, href('accounts', account)],
        ['Filings', href('accounts', account, 'filings')],
      ]}
    />
    <${AccountNav} account=${account} at="filings" />
    <${Failure} error=${error} what="read the filing" />
    ${filing === null && error === null && html`<${Loading} what="the filing" />`}
    ${filing !== null && html`<${FilingFacts} filing=${filing} /><${Timeline} filing=${filing} />`}`;
}

/** @param {{ filing: FilingWithEvents }} props */
function FilingFacts({ filing }) {
  return html`${filing.removed && html`<${Notice} tone="warn">The partner service no longer knows this filing.<//>`}
    ${filing.status === 'REJECTED' && html`<p class="notice bad">Rejected: <${Text} value=${filing.rejectionReason} /></p>`}
    <${Facts}
      items=${[
        ['Status', html`<${Badge} word=${filing.status} />`],
        ['Since', html`<${When} at=${filing.since} />`],
        ['Filing', html`<${Text} value=${filing.filingId} />`],
        ['Policy', html`<${Text} value=${filing.policyNumber} />`],
        ['State', html`<${Text} value=${filing.stateAbbr} />`],
        ['Type', html`<${Text} value=${filing.filingType === null ? null : spaced(filing.filingType)} />`],
        ['Premium', html`<${Text} value=${dollars(filing.premium)} />`],
        ['Completed', html`<${When} at=${filing.completedAt} never="not yet" />`],
      ]}
    />`;
}

/** @param {{ filing: FilingWithEvents }} props */
function Timeline({ filing: { events, sequence } }) {
  return html`<section aria-labelledby="timeline">
    <h2 id="timeline">Timeline</h2>
    ${
      events.length === 0 &&
      html`<p class="empty">
        ${sequence === 0 ? 'Unchanged since it was first read.' : 'Its events are older than the log keeps.'}
      </p>`
    }
    <ol class="timeline" reversed>
      ${events.toReversed().map((event) => html`<${TimelineEntry} key=${event.id} event=${event} />`)}
    </ol>
  </section>`;
}

/** @param {{ event: FilingEvent }} props */
function TimelineEntry({ event }) {
  const { from, to, reason, inferred, tooLarge } = eventFacts(event);
  return html`<li>
    <p><${Badge} word=${event.type} /> <${When} at=${event.timestamp} /></p>
    <p>
      <${Text} value=${from ?? 'new'} /> → <${Text} value=${to} />
      ${inferred && html`<span class="quiet">(inferred: it went there and back unseen)</span>`}
    </p>
    ${reason !== null && html`<p><${Text} value=${reason} /></p>`}
    ${tooLarge && html`<p class="quiet">Sent without the filing, which is larger than FILING_MAX_BYTES allows.</p>`}
    <details>
      <summary>What was sent</summary>
      <pre tabindex="0"><bdi>${JSON.stringify(event, null, 2)}</bdi></pre>
    </details>
  </li>`;
}
