import { useState } from '../vendor/hooks.js';
import { ActionButton, useAction } from '../parts/actions.js';
import { apiPath } from '../data/api-client.js';
import { knowledgeOf } from '../data/knowledge.js';
import { Trends } from '../parts/trends.js';
import { useMayWrite } from '../session.js';
import { useClient, useResource } from '../data/use-resource.js';
import { AccountHeading, Counts, Health, HealthAdvice } from '../parts/account-parts.js';
import { RejectionsTable } from '../parts/filings.js';
import { duration, number } from '../parts/format.js';
import { html } from '../html.js';
import { Facts, Failure, Notice, Reading, Text, When } from '../parts/parts.js';
import { href, withQuery } from '../router.js';

/** @import { Account } from '../../api-types.ts' */
/** @import { Resource } from '../data/use-resource.js' */

const refreshMs = 5000;

/**
 * One account: the state of its polling, its rejected filings, and all of them over time.
 * @param {{ account: string }} props
 */
export function AccountPage({ account: name }) {
  /** @type {Resource<Account>} */
  const reading = useResource(apiPath('accounts', name), refreshMs);
  const { data: account, error, reload } = reading;
  if (account === null && error?.status === 404)
    return html`<${AccountHeading} account=${name} at="" title=${name} />
      <p class="empty" role="alert">
        There is no account <${Text} value=${name} />. <a href=${href()}>All accounts</a>
      </p>`;
  return html`<${AccountHeading} account=${name} at="" title=${name}
      >${account !== null && html`<${Health} account=${account} />`}<//
    >
    <${Reading}
      of=${reading}
      what="the account"
      show=${(/** @type {Account} */ data) =>
        html`<${Known} account=${data} /><${Trends} account=${data} /><${Polling}
            account=${data}
            onPoll=${reload}
          />`}
    />`;
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
        ['Requests of the last poll', `${number(requests.lastPoll)} of at most ${number(requests.budget)}`],
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
