import { useState } from '../vendor/hooks.js';
import { AccountNav, Counts, HealthAdvice, requestBudget } from '../parts/account-parts.js';
import { ActionButton, useAction } from '../actions/actions.js';
import { apiPath } from '../data/api-client.js';
import { CountsChart } from '../parts/counts-chart.js';
import { RejectionsTable } from '../parts/filings-table.js';
import { duration, number } from '../parts/format.js';
import { html } from '../parts/html.js';
import { Badge, Facts, Failure, Heading, Loading, Notice, Text, When } from '../parts/parts.js';
import { useIsOperator } from '../data/session-context.js';
import { href } from '../router.js';
import { useSamples } from '../data/samples.js';
import { useClient, useResource } from '../data/use-resource.js';

/** @import { Account } from '../data/api-types.d.ts' */
/** @import { Resource } from '../data/use-resource.js' */

const refreshMs = 5000;
const periods = /** @type {const} */ ([
  ['6 hours', 6],
  ['A day', 24],
  ['A week', 168],
]);

/**
 * One account: the state of its polling, its filings over time, and the rejected ones.
 * @param {{ account: string }} props
 */
export function AccountPage({ account: name }) {
  const crumbs = useIsOperator() ? [['Accounts', href()]] : [];
  /** @type {Resource<Account>} */
  const { data: account, error, reload } = useResource(apiPath('accounts', name), refreshMs);
  return html`<${Heading} title=${name} crumbs=${crumbs}>
      ${
        account !== null &&
        html`<${Badge} word=${account.health.state} />
          <span class="quiet">last complete poll <${When} at=${account.health.lastCompletePollAt} /></span>`
      }
    <//>
    <${AccountNav} account=${name} at="" />
    <${Failure} error=${error} what="read the account" />
    ${account === null && error === null && html`<${Loading} what="the account" />`}
    ${account !== null && html`<${HealthAdvice} account=${account} /><${Counts} account=${account} />`}
    <section aria-labelledby="rejections">
      <h2 id="rejections">Rejections now</h2>
      <${RejectionsTable} account=${name} />
    </section>
    <div class="halves">
      <${OverTime} name=${name} account=${account} />
      ${account !== null && html`<${Polling} account=${account} onPoll=${reload} />`}
    </div>`;
}

const reading = html`<${Loading} what="how it was before" />`;
const beginning = html`<p class="empty">The line begins now: a point is kept each minute.</p>`;

/** @param {{ name: string, account: Account | null }} props */
function OverTime({ name, account }) {
  const [hours, setHours] = useState(24);
  const { samples, isRead, error } = useSamples(name, account, hours, useClient().now());
  return html`<section aria-labelledby="over-time">
    <h2 id="over-time">Filings over time</h2>
    <${CountsChart} samples=${samples} empty=${isRead ? beginning : error === null && reading}>
      <div class="chips" role="group" aria-label="How far back">
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
      <${Failure} error=${error} what="read how it was before" />
    <//>
  </section>`;
}

/** @param {{ account: Account, onPoll: () => void }} props */
function Polling({ account, onPoll }) {
  const { health, requests } = account;
  return html`<section aria-labelledby="polling">
    <h2 id="polling">Polling</h2>
    <${Facts}
      items=${[
        ['Last complete poll', html`<${When} at=${health.lastCompletePollAt} />`],
        ['Last poll', html`<${When} at=${health.lastPollAt} />`],
        ['Last sweep', html`<${When} at=${health.lastSweepAt} />`],
        ['Polls every', duration(account.pollIntervalMs)],
        ['Sweeps every', duration(account.sweepIntervalMs)],
        ['Request budget', requestBudget(requests)],
        ['Requests ever', number(requests.total)],
        ['Failures in a row', number(health.consecutiveFailures)],
        ['Partner service', html`<${Text} value=${account.baseUrl} />`, 'wide'],
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
    ${asked !== '' && html`<${Notice} tone="good">${asked}. The time of the last one shows when it was done.<//>`}`;
}
