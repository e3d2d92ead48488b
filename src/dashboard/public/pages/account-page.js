import { useState } from '../vendor/hooks.js';
import { ActionButton, useAction } from '../parts/actions.js';
import { apiPath } from '../data/api-client.js';
import { knowledgeOf } from '../data/knowledge.js';
import { useSamples, CountsChart } from '../parts/counts-chart.js';
import { useIsOperator, useMayWrite } from '../session.js';
import { useClient, useResource } from '../data/use-resource.js';
import { AccountNav, Counts, Health, HealthAdvice, requestBudget } from '../parts/account-parts.js';
import { RejectionsTable } from '../parts/filings.js';
import { duration, number } from '../parts/format.js';
import { html } from '../html.js';
import { Facts, Failure, Heading, Loading, Notice, Text, When } from '../parts/parts.js';
import { href, withQuery } from '../router.js';

/** @import { Account } from '../../api-types.ts' */
/** @import { Resource } from '../data/use-resource.js' */

const refreshMs = 5000;
const periods = /** @type {const} */ ([
  ['6 hours', 6],
  ['A day', 24],
  ['A week', 168],
]);

/**
 * One account: the state of its polling, its rejected filings, and all of them over time.
 * @param {{ account: string }} props
 */
export function AccountPage({ account: name }) {
  const crumbs = useIsOperator() ? [['Accounts', href()]] : [];
  /** @type {Resource<Account>} */
  const { data: account, error, reload } = useResource(apiPath('accounts', name), refreshMs);
  if (account === null && error?.status === 404)
    return html`<${NoSuchAccount} name=${name} crumbs=${crumbs} />`;
  return html`<${Heading} title=${name} crumbs=${crumbs}
      >${account !== null && html`<${Health} account=${account} />`}<//
    >
    <${AccountNav} account=${name} at="" />
    <${Failure} error=${error} what="read the account" />
    ${account === null && error === null && html`<${Loading} what="the account" />`}
    ${account !== null && html`<${Known} account=${account} />`}
    ${account !== null && html`<${OverTime} name=${name} account=${account} />`}
    ${account !== null && html`<${Polling} account=${account} onPoll=${reload} />`}`;
}

/** @param {{ name: string, crumbs: string[][] }} props */
function NoSuchAccount({ name, crumbs }) {
  return html`<${Heading} title=${name} crumbs=${crumbs} />
    <p class="empty" role="alert">
      There is no account <${Text} value=${name} />. <a href=${href()}>All accounts</a>
    </p>`;
}

/** @param {{ account: Account }} props */
function Known({ account }) {
  const knowledge = knowledgeOf(account);
  const rejected = account.counts['REJECTED'] ?? 0;
  return html`<div class=${`known ${knowledge}`}>
    <${HealthAdvice} account=${account} />
    <${Counts} account=${account} />
    <section aria-labelledby="rejections">
      <h2 id="rejections">
        Rejected now
        ${
          rejected > 0 &&
          html`<a class="all" href=${withQuery(href('rejections'), { account: account.account })}
            >All ${number(rejected)}, oldest first</a
          >`
        }
      </h2>
      <${RejectionsTable} account=${account.account} knowledge=${knowledge} />
    </section>
  </div>`;
}

const reading = html`<${Loading} what="the past" />`;
const beginning = html`<p class="empty">The line begins now: a point is kept each minute.</p>`;
const unknown = html`<p class="empty">Not known yet: the filings were never read as a whole.</p>`;

/** @param {{ name: string, account: Account }} props */
function OverTime({ name, account }) {
  const [hours, setHours] = useState(24);
  const now = useClient().now();
  const isKnown = knowledgeOf(account) !== 'unknown';
  const { samples, isRead, error } = useSamples(name, isKnown ? account : null, hours, now);
  return html`<section aria-labelledby="over-time">
    <h2 id="over-time">Filings over time</h2>
    <${CountsChart}
      samples=${isKnown ? samples : []}
      hours=${hours}
      empty=${isKnown ? (isRead ? beginning : error === null && reading) : unknown}
    >
      <div class="chips" role="group" aria-label="Period">
        ${periods.map(
          ([label, value]) =>
            html`<button
              key=${label}
              type="button"
              aria-pressed=${value === hours}
              onClick=${() => setHours(value)}
            >
              ${label}
            </button>`,
        )}
      </div>
      <${Failure} error=${error} what="read the past" />
    <//>
  </section>`;
}

/** @param {{ account: Account, onPoll: () => void }} props */
function Polling({ account, onPoll }) {
  const { health, requests } = account;
  const mayWrite = useMayWrite();
  return html`<details class="fold">
    <summary>Polling</summary>
    <${Facts}
      items=${[
        ['Last complete poll', html`<${When} at=${health.lastCompletePollAt} />`],
        ['Last poll', html`<${When} at=${health.lastPollAt} />`],
        ['Last sweep', html`<${When} at=${health.lastSweepAt} />`],
        ['Polls every', duration(account.pollIntervalMs)],
        ['Sweeps every', duration(account.sweepIntervalMs)],
        ['Requests of the last poll', requestBudget(requests)],
        ['Requests in all', number(requests.total)],
        ['Failures in a row', number(health.consecutiveFailures)],
        ['Partner service', html`<${Text} value=${account.baseUrl} />`, 'wide'],
      ]}
    />
    ${mayWrite && html`<${PollButtons} account=${account.account} onPoll=${onPoll} />`}
  </details>`;
}

/** @param {{ account: string, onPoll: () => void }} props */
function PollButtons({ account, onPoll }) {
  const client = useClient();
  const action = useAction();
  const [asked, setAsked] = useState('');
  const poll = (/** @type {'delta' | 'sweep'} */ mode) => async () => {
    setAsked('');
    await client.send('POST', `${apiPath('accounts', account, 'poll')}?mode=${mode}`);
    setAsked(mode === 'delta' ? 'The poll is on its way' : 'The sweep is on its way: it reads every filing');
    onPoll();
  };
  return html`<div class="buttons">
      <${ActionButton} action=${action} work=${poll('delta')}>Poll now<//>
      <${ActionButton} action=${action} work=${poll('sweep')}>Sweep now<//>
    </div>
    <${Failure} error=${action.error} what="ask for a poll" />
    ${asked !== '' && html`<${Notice} tone="good">${asked}. The time of the last one shows when it was done.<//>`}`;
}
