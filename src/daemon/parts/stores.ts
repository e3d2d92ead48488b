import { createAccountStore } from '../../accounts/account-store.ts';
import { createUnsoundAccounts } from '../../accounts/unsound-accounts.ts';
import { createSessionStore } from '../../accounts/session-store.ts';
import { createTokenStore } from '../../accounts/token-store.ts';
import type { Config } from '../../config/config.ts';
import { createAttemptReader } from '../../delivery/attempts/attempt-detail.ts';
import { createAttemptList } from '../../delivery/attempts/attempt-list.ts';
import { createToldReader } from '../../delivery/attempts/told.ts';
import { createDeliveryReader } from '../../delivery/attempts/event-deliveries.ts';
import { createBlockStore } from '../../delivery/store/block-store.ts';
import { createChallengeTurns } from '../../delivery/ownership.ts';
import { createReplayStore } from '../../delivery/replay/replay-store.ts';
import { createAccountDeliveryStore } from '../../delivery/store/account-store.ts';
import { createDisabler } from '../../delivery/store/disable-subscription.ts';
import { createJournal } from '../../delivery/store/journal.ts';
import { createEventLog } from '../../events/event-log.ts';
import { createEventFinder } from '../../events/search/find-events.ts';
import { createTypeSearch } from '../../events/search/log-sections.ts';
import { createAnswers } from '../../filings/answers.ts';
import { createCountHistory } from '../../filings/count-history.ts';
import { toDueRules, type ReadDueRules } from '../../filings/detection/due-dates.ts';
import { createRejectingAccounts } from '../../filings/rejecting-accounts.ts';
import { createFilingListStore } from '../../filings/lists/filing-list-store.ts';
import { createPageLinks } from '../../events/page-link.ts';
import { createPresentFilings } from '../../filings/present-filings.ts';
import { createSnapshotStore, type SnapshotOptions } from '../../filings/snapshot-store.ts';
import { createTriageStore } from '../../filings/triage-store.ts';
import type { HostLookup } from '../../names/host-lookup.ts';
import { createPollingStore } from '../../polling/store/polling-store.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import { createQuotaReader } from '../../redis/quota/account-quota.ts';
import { createFilterJudge } from '../../subscriptions/content-filter/judge.ts';
import { createLagReader } from '../../subscriptions/lag.ts';
import { createPublishedKeys } from '../../subscriptions/public-keys.ts';
import { createCertificateWarnings } from '../../subscriptions/certificate-warnings.ts';
import { createSubscriptionStore } from '../../subscriptions/store/subscription-store.ts';
import type { Tracing } from '../../tracing/tracing.ts';
import { oldestKept } from '../upkeep/retention.ts';
import type { OpenStore } from './open-store.ts';

/** Every store of the product. */
export type Stores = ReturnType<typeof createStores>;

/** The dependencies of the parts that poll and of those that deliver. */
export interface PartsBase extends OpenStore {
  readonly stores: Stores;
  readonly tracing: Tracing;
  readonly lookup: HostLookup;
}

/** Makes all stores over one client; `committing` is what commits of filings need besides. */
export function createStores(
  redis: RedisClient,
  config: Config,
  { keys, sealer, onUnreadable, retentionAt, clock }: OpenStore,
  committing: Partial<SnapshotOptions> = {},
) {
  const log = createEventLog(redis, keys, onUnreadable);
  const addPageLink = createPageLinks(config.publicUrl);
  const outline = log.outlineAfter;
  const replays = createReplayStore(redis, keys);
  const judge = createFilterJudge();
  const kept = (now: number) => oldestKept(retentionAt(now));
  const journal = createJournal(redis, keys, kept, config.attemptsBytesMax, onUnreadable);
  const subscriptions = createSubscriptionStore(redis, keys, sealer, onUnreadable);
  const keptFrom = () => clock.now() - config.eventRetentionMs;
  const accounts = createAccountStore({ redis, keys, sealer, defaults: config.polling, onUnreadable });
  const readDueRules: ReadDueRules = async (name) => {
    const [account] = await accounts.some([name]);
    return account === undefined || 'error' in account ? null : toDueRules(account);
  };
  return {
    accounts,
    readDueRules,
    quota: createQuotaReader(redis, keys),
    tokens: createTokenStore(redis, keys, onUnreadable),
    sessions: createSessionStore(redis, keys, config.apiToken),
    snapshot: createSnapshotStore(redis, keys, { ...committing, onUnreadable, addPageLink, readDueRules }),
    unsound: createUnsoundAccounts(redis, keys),
    rejecting: createRejectingAccounts(redis, keys),
    filings: createFilingListStore(redis, keys, onUnreadable),
    answers: createAnswers(redis, keys, onUnreadable, readDueRules),
    present: createPresentFilings(redis, keys, config.filingBytesMax, addPageLink, readDueRules),
    triage: createTriageStore(redis, keys),
    countHistory: createCountHistory(redis, keys),
    polling: createPollingStore(redis, keys, onUnreadable, addPageLink),
    log,
    subscriptions,
    publicKeys: createPublishedKeys(redis, keys, subscriptions, clock.now),
    certificates: createCertificateWarnings(redis, keys, subscriptions, clock.now, addPageLink),
    journal,
    deliveries: createAccountDeliveryStore(
      redis,
      keys,
      kept,
      config.attemptsBytesMax,
      onUnreadable,
      addPageLink,
    ),
    replays,
    attempts: createAttemptList(redis, keys, journal),
    readAttempt: createAttemptReader(journal, log),
    readDelivery: createDeliveryReader(redis, keys, journal, replays, { log, judge }, keptFrom),
    openTold: createToldReader(redis, keys, log, journal, replays, subscriptions),
    findEvents: createEventFinder(redis, keys, log),
    blocks: createBlockStore(redis, keys),
    disable: createDisabler(redis, keys, addPageLink),
    takeTurn: createChallengeTurns(redis, keys),
    addPageLink,
    outline,
    sections: createTypeSearch(redis, keys, log),
    lags: createLagReader({ log, outline, judged: { log, judge } }),
    judge,
  };
}
