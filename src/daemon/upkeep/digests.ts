import type { Logger } from 'pino';
import type { Account } from '../../accounts/account.ts';
import { digestDate } from '../../accounts/digest.ts';
import type { OpenTold } from '../../delivery/attempts/told.ts';
import type { Waker } from '../../delivery/wake.ts';
import { buildOperationalEvent, type NewEvent } from '../../events/event.ts';
import { answeredGroup } from '../../filings/detection/age-rank.ts';
import { dueDate, toDueRules } from '../../filings/detection/due-dates.ts';
import { seenStatus } from '../../filings/detection/triage.ts';
import { dueSources } from '../../filings/lists/walk-sources.ts';
import type { FilingListStore, ListedFiling } from '../../filings/lists/filing-list-store.ts';
import { cutText } from '../../json/cut-text.ts';
import { isoOrNull } from '../../json/iso-time.ts';
import { createBoundedMap } from '../../memory/bounded-map.ts';
import type { Metrics } from '../../monitoring/metrics.ts';
import type { PollingStore } from '../../polling/store/polling-store.ts';
import { toUnreadable, unlessUnreadable } from '../../redis/unreadable-record.ts';
import type { SubscriptionReads } from '../../subscriptions/store/subscription-reads.ts';
import { subscriptionState, type DeliveryState } from '../../subscriptions/subscription.ts';

export interface DigestsDeps {
  readonly polling: Pick<PollingStore, 'read' | 'replace'>;
  readonly filings: Pick<FilingListStore, 'walk' | 'count'>;
  readonly subscriptions: Pick<SubscriptionReads, 'list'>;
  readonly openTold: OpenTold;
  readonly waker: Pick<Waker, 'wake'>;
  readonly metrics: Pick<Metrics, 'events'>;
  readonly logger: Pick<Logger, 'info'>;
  /** Whether the time of day can be believed. */
  readonly isClockRight: () => boolean;
  /** Milliseconds on Redis's clock. */
  readonly now: () => number;
}

// Maximum number of rejections that a digest names, and that it goes through, the most urgent first.
const namedMax = 50;
const countedMax = 5_000;
// Number of subscriptions that are read at once.
const subscriptionsAtOnce = 100;
// Number of rejections in one read of their acknowledgements.
const toldAtOnce = 50;
// Maximum characters of a reason.
const reasonMax = 300;
// Maximum number of accounts of which this process knows that the day has its digest.
const knownMax = 20_000;

/**
 * Appends the digest of an account if one is due: one per local day, however often and by however many
 * processes it is called, and none for a day that has passed. A crash in between repeats none and loses none.
 * An account that was never read completely has none.
 */
export function createDigests(deps: DigestsDeps): (account: Account) => Promise<void> {
  const { polling, waker, metrics, logger, isClockRight, now } = deps;
  const done = createBoundedMap<string, string>(knownMax);

  async function send(settings: Account, date: string): Promise<boolean> {
    const { account } = settings;
    const { generation, lastCompletePollAt, digestDate: last, digestAt } = await polling.read(account);
    if (last >= date) return true;
    if (lastCompletePollAt === 0) return false;
    const found = await collect(deps, settings, digestAt);
    const facts = { ...found, since: digestAt, asOf: lastCompletePollAt };
    const at = now();
    const event = buildDigestEvent(account, date, facts, at);
    const marks = { digestDate: date, digestAt: at };
    const position = await polling.replace(account, { generation, digestDate: last }, marks, { event, at });
    if (position === null) return false;
    metrics.events.inc({ type: event.type });
    logger.info({ account, date, open: found.counts.open }, 'digest.appended');
    // A wake-up that fails is repeated by the polls of the account.
    await waker.wake(account);
    return true;
  }

  return async (account) => {
    const date = account.digest === null ? null : digestDate(account.digest, now());
    const name = `${account.account} ${account.incarnation}`;
    if (date === null || done.get(name) === date || !isClockRight()) return;
    if (await unlessUnreadable(() => send(account, date))) done.set(name, date);
  };
}

/** The content of a digest. Times are milliseconds on Redis's clock, 0 = never. */
export type DigestFacts = Awaited<ReturnType<typeof collect>> & {
  /** When the digest before was made. */
  readonly since: number;
  /** Start of the last poll that read everything. */
  readonly asOf: number;
};

async function collect(deps: DigestsDeps, settings: Account, since: number) {
  const { account } = settings;
  const rules = toDueRules(settings);
  const found = await deps.filings.walk(dueSources(account, rules, [seenStatus]), {
    order: 'oldest',
    after: null,
    limit: countedMax,
    passOver: (error) => toUnreadable(error) !== null,
  });
  // With the time (ms) at which each is due; null for none.
  const filings = found.filings.map((filing) => ({
    ...filing,
    dueAt: dueDate(rules, filing.state.effective),
  }));
  const at = deps.now();
  const [open, answered] = await Promise.all(
    [seenStatus, answeredGroup].map((status) => deps.filings.count({ account, status })),
  );
  const counts = {
    open: open ?? 0,
    new: filings.filter(({ state }) => state.since > since).length,
    overdue: filings.filter(({ dueAt }) => dueAt !== null && dueAt <= at).length,
    unseen: filings.filter(({ seen }) => seen === null).length,
    answered: answered ?? 0,
    toldToNobody: await countUntold(deps, account, filings),
    failingEndpoints: await countFailing(deps, account),
  };
  return { counts, rejections: filings.slice(0, namedMax) };
}

async function countUntold({ openTold }: DigestsDeps, account: string, filings: readonly ListedFiling[]) {
  if (filings.length === 0) return 0;
  const read = await openTold(account, null);
  let untold = 0;
  for (let from = 0; from < filings.length; from += toldAtOnce) {
    const told = await read(filings.slice(from, from + toldAtOnce));
    for (const by of told.values()) if (by?.length === 0) untold += 1;
  }
  return untold;
}

// Failing, or disabled for it.
function isFailing(delivery: DeliveryState): boolean {
  return subscriptionState(delivery) === 'failing' || delivery.disabledAt > 0;
}

async function countFailing({ subscriptions }: DigestsDeps, account: string): Promise<number> {
  let failing = 0;
  for (let after: string | null = null; ;) {
    const page: Awaited<ReturnType<SubscriptionReads['list']>> = await subscriptions.list(
      account,
      after,
      subscriptionsAtOnce,
    );
    failing += page.records.filter(({ delivery }) => isFailing(delivery)).length;
    if (page.next === null) return failing;
    after = page.next;
  }
}

/** The event `account.digest` of a local date; pure. A day has one id. */
export function buildDigestEvent(account: string, date: string, facts: DigestFacts, at: number): NewEvent {
  return buildOperationalEvent(account, 'account.digest', date, at, {
    date,
    since: isoOrNull(facts.since),
    asOf: isoOrNull(facts.asOf),
    counts: facts.counts,
    rejections: facts.rejections.map(({ id, state, details, seen, dueAt }) => ({
      filingId: id,
      policyNumber: details?.policyNumber ?? null,
      insuredsName: details?.insuredsName ?? null,
      stateAbbr: details?.stateAbbr ?? null,
      rejectionReason:
        state.rejectionReason === null ? null : cutText(state.rejectionReason, reasonMax).toWellFormed(),
      since: isoOrNull(state.since),
      dueAt: dueAt === null ? null : new Date(dueAt).toISOString(),
      seen: seen !== null,
    })),
  });
}
