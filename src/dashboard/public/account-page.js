import { useState } from './vendor/hooks.js';
import { AccountNav, Counts, HealthAdvice } from './account-parts.js';
import { ActionButton, useAction } from './actions.js';
import { apiPath } from './api-client.js';
import { CountsChart } from './counts-chart.js';
import { RejectionsTable } from './filings-table.js';
import { duration, number } from './format.js';
import { html } from './html.js';
import { Badge, Facts, Failure, Heading, Loading, Notice, Text, When } from './parts.js';
import { useSamples } from './samples.js';
import { useClient, useResource } from './use-resource.js';

/** @import { Account } from './api-types.d.ts' */
/** @import { Resource } from './use-resource.js' */

const refreshMs = 5000;

/**
 * One account: how its polling stands, its filings over time, and what is rejected now.
 * @param {{ account: string }} props
 */
export function AccountPage({ account: name }) {
  const client = useClient();
  /** @type {Resource<Account>} */
  const { data: account, error, reload } = useResource(apiPath('accounts', name), refreshMs);
  const samples = useSamples(account, client.now());
  return html`<${Heading} title=${name} />
    <${AccountNav} account=${name} at="" />
    <${Failure} error=${error} what="read the account" />
    ${account === null && error === null && html`<${Loading} what="the account" />`}
    ${account !== null && html`<${HealthAdvice} account=${account} /><${Counts} account=${account} />`}
    <section aria-labelledby="rejections">
      <h2 id="rejections">Rejections now</h2>
      <${RejectionsTable} account=${name} />
    </section>
    <div class="halves">
      <section aria-labelledby="over-time">
        <h2 id="over-time">Filings over time</h2>
        <${CountsChart} samples=${samples} />
      </section>
      ${account !== null && html`<${Polling} account=${account} onPoll=${reload} />`}
    </div>`;
}

/** @param {{ account: Account, onPoll: () => void }} props */
function Polling({ account, onPoll }) {
  const { health, requests } = account;
  return html`<section aria-labelledby="polling">
    <h2 id="polling">Polling <${Badge} word=${health.state} /></h2>
    <${Facts}
      items=${[
        ['Last complete poll', html`<${When} at=${health.lastCompletePollAt} />`],
        ['Last poll', html`<${When} at=${health.lastPollAt} />`],
        ['Last sweep', html`<${When} at=${health.lastSweepAt} />`],
        ['Polls every', duration(account.pollIntervalMs)],
        ['Sweeps every', duration(account.sweepIntervalMs)],
        ['Requests ever', number(requests.total)],
        ['Requests of the last poll', number(requests.lastPoll)],
        ['Failures in a row', number(health.consecutiveFailures)],
        ['Partner service', html`<${Text} value=${account.baseUrl} />`],
      ]}
    />
    <${PollButtons} account=${account.account} onPoll=${onPoll} />
  </section>`;
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
    ${asked !== '' && html`<${Notice} tone="good">${asked}. The time of the last one tells when it was done.<//>`}`;
}
