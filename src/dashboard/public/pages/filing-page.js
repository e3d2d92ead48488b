import { CopyButton } from '../parts/copying.js';
import { At, Badge, Facts, FilingLink, Notice, Section, Text, When, whenRead } from '../parts/parts.js';
import { EventDeliveries } from '../deliveries/attempts.js';
import { apiPath, useResource } from '../data/api.js';
import { eventFacts, withKnownDetails } from '../data/filing-event.js';
import { AccountHeading } from '../parts/account-parts.js';
import { Due, FilingAge } from '../parts/filings.js';
import { AnsweredBy, Notes, SeenBy } from '../parts/triage.js';
import { ToldOfFiling } from '../parts/told.js';
import { WhatToFix } from '../parts/what-to-fix.js';
import { dollars, spaced } from '../parts/format.js';
import { html } from '../html.js';
import { href, useQuery, withQuery } from '../router.js';

/** @import { FilingEvent, FilingWithEvents } from '../../api-types.ts' */
/** @import { Resource } from '../data/api.js' */

const refreshMs = 5000;

/**
 * One filing as the daemon last saw it, its events, and who has each.
 * @param {{ account: string, id: string }} props
 */
export function FilingPage({ account, id: filingId }) {
  const path = apiPath('accounts', account, 'filings', filingId);
  /** @type {Resource<FilingWithEvents>} */
  const reading = useResource(path, refreshMs);
  const filing = reading.data && withKnownDetails(reading.data);
  const standing =
    filing &&
    html`<${Badge} word=${filing.status} /><span class="quiet">for <${FilingAge} filing=${filing} /></span>`;
  const show = (/** @type {FilingWithEvents} */ known) =>
    html`<${FilingFacts} account=${account} filing=${known} onChanged=${reading.reload} />
      <${Timeline} account=${account} filing=${known} />`;
  return html`<${AccountHeading}
      account=${account}
      at="filings"
      title=${filing?.insuredsName?.trim() ? filing.insuredsName : filingId}
      below=${[]}
      >${standing}<//
    >
    ${
      reading.error?.status === 404
        ? html`<p class="empty" role="alert">
            No poll of this account has seen a filing with this id.
            <a href=${href('search', filingId)}>Search by policy number or insured</a>
          </p>`
        : whenRead({ ...reading, data: filing }, 'the filing', show)
    }`;
}

/** @param {{ account: string, filing: FilingWithEvents, onChanged: () => void }} props */
function FilingFacts({ account, filing, onChanged }) {
  const [query, setQuery] = useQuery();
  const { filingId, userId } = filing;
  const documents = filing.documents?.join(', ');
  const id = html`<${Text} value=${filingId} /> <${CopyButton} text=${filingId} what="the filing id" />`;
  return html`${filing.removed && html`<${Notice} tone="warn">The partner service no longer knows this filing.<//>`}
    ${
      filing.status === 'REJECTED' &&
      html`<div class=${`notice ${filing.answeredBy === null ? 'bad' : 'info'} split`}>
          <p>
            Rejected:
            ${filing.rejectionReason ? html`<${Text} value=${filing.rejectionReason} />` : html`<span class="none">none given</span>`}
          </p>
          <div class="buttons">
            <${SeenBy}
              account=${account}
              filing=${{ ...filing, assignee: null, note: null }}
              onChanged=${onChanged}
              take=${query.has('take')}
              onClose=${() => setQuery({ take: null })}
            />
            <${AnsweredBy} account=${account} filing=${filing} onChanged=${onChanged} />
          </div>
        </div>
        <${ToldOfFiling} account=${account} filing=${filing} onChanged=${onChanged} />
        <${WhatToFix} account=${account} filingId=${filingId} />`
    }
    <${Facts}
      items=${[
        ['Policy', html`<${Text} value=${filing.policyNumber} />`],
        ['Carrier', html`<${Text} value=${filing.carriersName} />`],
        ['Effective', html`<${Text} value=${filing.policyEffectiveDate?.slice(0, 10) ?? null} />`],
        ['State', html`<${Text} value=${filing.stateAbbr} />`],
        ['Type', html`<${Text} value=${filing.filingType && spaced(filing.filingType)} />`],
        ['Premium', html`<${Text} value=${dollars(filing.premium)} />`],
        ['Filed', html`<${Text} value=${filing.createdAt?.slice(0, 10) ?? null} />`],
        userId !== null && ['Filed by', html`<${Text} value=${userId} />`],
        [
          `${spaced(filing.status)} since`,
          html`<${At} at=${filing.since} />${filing.sinceIsFirstRead && ' or before'}`,
        ],
        ['Completed', html`<${When} at=${filing.completedAt} never="not yet" />`],
        filing.answers !== null && [
          'Answers',
          html`<${FilingLink} account=${account} filingId=${filing.answers} />`,
        ],
        filing.dueAt !== null && ["Due by the account's rules", html`<${Due} at=${filing.dueAt} />`],
        !!documents && ['Documents', html`<${Text} value=${documents} />`, 'wide'],
        ['Filing id', id, 'wide'],
      ]}
    />
    <${Notes} account=${account} filing=${filing} onChanged=${onChanged} />`;
}

/** @param {{ account: string, filing: FilingWithEvents }} props */
function Timeline({ account, filing: { filingId, events, sequence } }) {
  const changes = withQuery(href('accounts', account, 'changes'), { filingId });
  return html`<${Section} title=${html`Timeline <a class="all" href=${changes}>As changes</a>`}>
    ${
      events.length === 0 &&
      html`<p class="empty">
        ${sequence === 0 ? 'Unchanged since it was first read.' : 'Its events are older than the log keeps.'}
      </p>`
    }
    <ol class="timeline" reversed>
      ${events
        .toReversed()
        .map((event) => html`<${TimelineEntry} key=${event.id} account=${account} event=${event} />`)}
    </ol>
  <//>`;
}

/** @param {{ account: string, event: FilingEvent }} props */
function TimelineEntry({ account, event }) {
  const { filingId, from, to, reason, answeredBy, inferred, tooLarge, happened } = eventFacts(event);
  return html`<li>
    <p>
      <${Badge} word=${event.type} /> <${At} at=${event.timestamp} />
      <span class="quiet"><${When} at=${event.timestamp} /></span>
    </p>
    <p>
      ${happened === null ? html`<${Text} value=${from ?? 'new'} /> → <${Text} value=${to} />` : html`<${Text} value=${happened} />`}
      ${inferred && html`<span class="quiet"> (inferred: it went there and back unseen)</span>`}
    </p>
    ${reason !== null && html`<p><${Text} value=${reason} /></p>`}
    ${answeredBy !== null && html`<p>Answered by <${FilingLink} account=${account} filingId=${answeredBy} /></p>`}
    ${tooLarge && html`<p class="quiet">Sent without the filing, which is larger than FILING_MAX_BYTES allows.</p>`}
    <${EventDeliveries} account=${account} eventId=${event.id} filingId=${filingId} />
    <details>
      <summary>What was sent</summary>
      <pre tabindex="0"><bdi>${JSON.stringify(event, null, 2)}</bdi></pre>
    </details>
  </li>`;
}
