import { useCallback, useEffect, useState } from '../vendor/hooks.js';
import { apiPath } from '../data/api-client.js';
import { shownState } from '../data/delivery-stats.js';
import { useMayWrite } from '../session.js';
import { useClient, useList, useResource } from '../data/use-resource.js';
import { AccountNav, FurtherFailing } from '../parts/account-parts.js';
import { Stats } from '../deliveries/attempts.js';
import { number } from '../parts/format.js';
import { html } from '../html.js';
import { Failure, Heading, Loading, Text, When } from '../parts/parts.js';
import { Table } from '../parts/table.js';
import { href } from '../router.js';
import { StateBadge } from '../subscriptions/state-advice.js';

/** @import { Attempt, Page, Subscription } from '../../api-types.ts' */
/** @import { List, Resource } from '../data/use-resource.js' */

const refreshMs = 5000;
const statsEveryMs = 30_000;

const columns = [
  'Subscription',
  'State',
  'Events',
  'Format',
  'Pending',
  'Latest attempts',
  'Next retry',
  'Last success',
];

// Trouble stands on top.
const ranks = ['failing', 'degraded', 'unverified', 'disabled', 'active'];

/**
 * The subscriptions of an account with the state of their delivery, failing ones first.
 * @param {{ account: string }} props
 */
export function SubscriptionsPage({ account }) {
  const path = apiPath('accounts', account, 'subscriptions');
  const mayWrite = useMayWrite();
  const now = useClient().now();
  /** @type {List<Subscription>} */
  const { data, error, showMore } = useList(path, refreshMs);
  const [lately, setLately] = useState(/** @type {Record<string, Attempt[]>} */ ({}));
  const note = useCallback(
    (/** @type {string} */ id, /** @type {Attempt[]} */ attempts) =>
      setLately((before) => (before[id] === attempts ? before : { ...before, [id]: attempts })),
    [],
  );
  const rows = (data?.items ?? [])
    .map((subscription) => {
      const state = shownState(subscription, lately[subscription.id] ?? [], now);
      const cells = cellsOf(subscription, state, note);
      return { key: subscription.id, state, cells, card: cardOf(cells) };
    })
    .toSorted((one, other) => ranks.indexOf(one.state) - ranks.indexOf(other.state));
  const make = href('accounts', account, 'subscriptions', 'new');
  return html`<${Heading} title="Subscriptions" crumbs=${[[account, href('accounts', account)]]}>
      ${mayWrite && html`<a class="button primary beside" href=${make}>New subscription</a>`}
    <//>
    <${AccountNav} account=${account} at="subscriptions" />
    <${Failure} error=${error} what="read the subscriptions" />
    ${data === null && error === null && html`<${Loading} what="the subscriptions" />`}
    ${
      data !== null &&
      html`${data.more && html`<${FurtherFailing} account=${account} shown=${data.items} />`}<${Table}
          caption="Subscriptions"
          columns=${columns}
          numbers=${['Pending']}
          rows=${rows}
          empty="There is no subscription yet. A subscription sends the changes of this account's filings to an endpoint of yours."
          more=${data.more}
          onMore=${showMore}
        />`
    }`;
}

/**
 * @type {(subscription: Subscription, state: string, note: (id: string, attempts: Attempt[]) => void) =>
 * unknown[]}
 */
function cellsOf(subscription, state, note) {
  const { account, id, url, description, eventTypes, statuses, format, lag, nextAttemptAt, lastSuccessAt } =
    subscription;
  return [
    html`<a href=${href('accounts', account, 'subscriptions', id)}><${Text} value=${description || url} /></a
      >${description && html`<br /><span class="quiet url"><${Text} value=${url} /></span>`}`,
    html`<${StateBadge} state=${state} />`,
    html`<span class="patterns"
      ><${Text} value=${eventTypes.join(', ')} />${
        statuses && html`<br /><span class="quiet">only <${Text} value=${statuses.join(', ')} /></span>`
      }</span
    >`,
    format,
    number(lag),
    html`<${Lately} account=${account} id=${id} onRead=${note} />`,
    html`<${When} at=${nextAttemptAt} never="none" />`,
    html`<${When} at=${lastSuccessAt} />`,
  ];
}

/** @type {(cells: unknown[]) => unknown} */
function cardOf([name, state, events, format, pending, lately, nextRetry, lastSuccess]) {
  return html`<div class="card-line"><span>${name}</span> <span>${state}</span></div>
    <div>${events} <span class="card-quiet">${format}</span></div>
    <div class="row">${lately}</div>
    <div class="card-quiet">${pending} pending, next retry ${nextRetry}, last success ${lastSuccess}</div>`;
}

// The delivered share of the latest attempts, and their speed.
/**
 * @param {{ account: string, id: string, onRead: (id: string, attempts: Attempt[]) => void }} props
 */
function Lately({ account, id, onRead }) {
  const path = `${apiPath('accounts', account, 'subscriptions', id, 'attempts')}?limit=50`;
  /** @type {Resource<Page<Attempt>>} */
  const { data } = useResource(path, statsEveryMs);
  useEffect(() => {
    if (data !== null) onRead(id, data.items);
  }, [id, data, onRead]);
  if (data === null) return html`<span class="none">…</span>`;
  return html`<${Stats} attempts=${data.items} />`;
}
