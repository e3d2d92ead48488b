import { useState } from '../vendor/hooks.js';
import { html } from '../html.js';
import { apiPath } from '../data/api-client.js';
import { knowledgeOf } from '../data/knowledge.js';
import { useClient, useResource } from '../data/use-resource.js';
import { AccountHeading, Counts, Health, HealthAdvice } from '../parts/account-parts.js';
import { ActionButton, useAction } from '../parts/actions.js';
import { RejectionsTable } from '../parts/filings.js';
import { duration, number } from '../parts/format.js';
import { Trends } from '../parts/trends.js';
import { Facts, Failure, Notice, Reading, Section, Text, When } from '../parts/parts.js';
import { href, withQuery } from '../router.js';
import { useMayWrite } from '../session.js';

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
  const { data, error, reload } = reading;
  const isMissing = data === null && error?.status === 404;
  return html`<${AccountHeading} account=${name} at="" title=${name}
      >${data !== null && html`<${Health} account=${data} />`}<//
    >
    ${
      isMissing
        ? html`<p class="empty" role="alert">
            There is no account <${Text} value=${name} />. <a href=${href()}>All accounts</a>
          </p>`
        : html`<${Reading}
            of=${reading}
            what="the account"
            show=${(/** @type {Account} */ account) =>
              html`<${Known} account=${account} /><${Trends} account=${account} />
                <${Polling} account=${account} onPoll=${reload} />`}
          />`
    }`;
}

/** @param {{ account: Account }} props */
function Known({ account }) {
  const knowledge = knowledgeOf(account);
  const rejected = account.counts['REJECTED'] ?? 0;
  const all = html`<a class="all" href=${withQuery(href('rejections'), { account: account.account })}
    >All ${number(rejected)}, oldest first</a
  >`;
  return html`<div class=${`known ${knowledge}`}>
    <${HealthAdvice} account=${account} />
    <${Counts} account=${account} />
    <${Section} title=${html`Rejected now ${rejected > 0 && all}`}>
      <${RejectionsTable} account=${account.account} knowledge=${knowledge} />
    <//>
  </div>`;
}

/** @param {{ account: Account, onPoll: () => void }} props */
function Polling({ account, onPoll }) {
  const { health, requests } = account;
  const client = useClient();
  const mayWrite = useMayWrite();
  const action = useAction();
  const [asked, setAsked] = useState('');
  const ask = (/** @type {string} */ mode, /** @type {string} */ label, /** @type {string} */ answer) => {
    const work = async () => {
      setAsked('');
      await client.send('POST', `${apiPath('accounts', account.account, 'poll')}?mode=${mode}`);
      setAsked(answer);
      onPoll();
    };
    return html`<${ActionButton} action=${action} work=${work}>${label}<//>`;
  };
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
    ${
      mayWrite &&
      html`<div class="buttons">
          ${ask('delta', 'Poll now', 'The poll is on its way')}
          ${ask('sweep', 'Sweep now', 'The sweep is on its way: it reads every filing')}
        </div>
        <${Failure} error=${action.error} what="ask for a poll" />
        ${asked !== '' && html`<${Notice} tone="good">${asked}. The time of the last one shows when it was done.<//>`}`
    }
  </details>`;
}
