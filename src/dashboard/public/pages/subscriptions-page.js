import { html, useCallback, useEffect, useState } from '../html.js';
import { apiPath, useClient, useList, useResource } from '../data/api.js';
import { isInTrouble, shownState } from '../data/delivery-stats.js';
import { useMayWrite } from '../session.js';
import { AccountHeading, pagesMax } from '../parts/account-parts.js';
import { Stats } from '../deliveries/attempts.js';
import { number } from '../parts/format.js';
import { Badge, Text, When, whenRead } from '../parts/parts.js';
import { Table } from '../parts/tables.js';
import { href } from '../router.js';

/** @import { Attempt, Page, Subscription } from '../../api-types.ts' */
/** @import { List, Resource } from '../data/api.js' */

const refreshMs = 10_000;
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
const rowsAtOnce = 50;

/**
 * The subscriptions of an account with the state of their delivery, failing ones first: the first thousand
 * are read, so that none of these is missed.
 * @param {{ account: string }} props
 */
export function SubscriptionsPage({ account }) {
  const mayWrite = useMayWrite();
  const now = useClient().now();
  const path = `${apiPath('accounts', account, 'subscriptions')}?limit=100`;
  /** @type {List<Subscription>} */
  const list = useList(path, refreshMs, pagesMax);
  const [shown, setShown] = useState(rowsAtOnce);
  const [lately, setLately] = useState(/** @type {Record<string, Attempt[]>} */ ({}));
  const note = useCallback(
    (/** @type {string} */ id, /** @type {Attempt[]} */ attempts) =>
      setLately((before) => (before[id] === attempts ? before : { ...before, [id]: attempts })),
    [],
  );
  const show = (/** @type {NonNullable<typeof list.data>} */ { items, more }) => {
    const states = items.map((one) => [one, shownState(one, lately[one.id] ?? [], now)]);
    const rows = /** @type {[Subscription, string][]} */ (states).toSorted(
      (one, other) => rank(one) - rank(other),
    );
    const showMore = () => {
      setShown(shown + rowsAtOnce);
      if (more && shown + rowsAtOnce > rows.length) list.showMore();
    };
    return html`<${Table}
      caption="Subscriptions"
      columns=${columns}
      numbers=${['Pending']}
      rows=${rows.slice(0, shown).map(([subscription, state]) => {
        const cells = cellsOf(subscription, state, note);
        return { key: subscription.id, cells, card: cardOf(cells) };
      })}
      empty="There is no subscription yet. A subscription sends the changes of this account's filings to an endpoint of yours."
      more=${more || rows.length > shown}
      onMore=${showMore}
    />`;
  };
  const make = href('accounts', account, 'subscriptions', 'new');
  return html`<${AccountHeading} account=${account} at="subscriptions" title="Subscriptions">
      ${mayWrite && html`<a class="button primary at-end" href=${make}>New subscription</a>`}
    <//>
    ${whenRead(list, 'the subscriptions', show)}`;
}

/** @type {(row: readonly [Subscription, string]) => number} */
const rank = ([subscription, state]) => (isInTrouble(subscription) ? 0 : ranks.length) + ranks.indexOf(state);

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
    html`<${Badge} word=${state} />`,
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
    <div>${events} <span class="quiet">${format}</span></div>
    <div class="row">${lately}</div>
    <div class="quiet">${pending} pending, next retry ${nextRetry}, last success ${lastSuccess}</div>`;
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
