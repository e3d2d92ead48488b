import { Counter, Registry, collectDefaultMetrics } from 'prom-client';
import { loggedEventTypes } from '../events/event-types.ts';
import { defineMetrics, type DefineMetrics } from './define-metrics.ts';
import { recordKinds } from './unreadable-reports.ts';
import { createAccountCounters } from './gauges/account-counters.ts';
import { outcomeKinds } from '../callbacks/outcome.ts';

/**
 * The metrics of this process under the names of docs/failure-modes.md#metrics, and the registry that prints
 * them.
 */
export type Metrics = ReturnType<typeof createMetrics>;

const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 15, 60, 300];

// Redis, what is stored in it, and this process.
function storeMetrics({ gauge, counter }: DefineMetrics) {
  return {
    buildInfo: gauge(
      'build_info',
      '1, with the versions of the daemon and of Node.js, and whether that one lacks known security fixes.',
      ['version', 'node', 'outdated'],
    ),
    ready: gauge('ready', 'Whether readiness is 200 (1) or 503 (0); its body says why.'),
    redisSafe: gauge('redis_safe', 'Whether Redis is set so that it keeps what it is given (1) or not (0).'),
    storeEmptied: gauge(
      'store_emptied',
      'Whether the store was found emptied under the running daemon (1) or not (0).',
    ),
    rewritesMissing: gauge(
      'aof_rewrites_missing',
      'Redis servers whose append-only file was not rewritten since their last start.',
    ),
    unreplicatedCommits: counter(
      'unreplicated_commits_total',
      'Commits that fewer replicas had acknowledged in time than REDIS_WAIT_REPLICAS asks for.',
    ),
    setBacks: counter(
      'set_backs_total',
      'Times that Redis was found to have lost commits to the log of an account.',
    ),
    clockDifference: gauge(
      'clock_difference_seconds',
      "By how much Redis's clock is ahead of this process's own.",
    ),
    clockSteps: counter('clock_steps_total', "Steps of Redis's clock that this process has seen."),
    unreadableRecords: counter(
      'unreadable_records_total',
      'Stored records that could not be read, and what became of them; one that stays so counts again every five minutes.',
      ['kind'],
    ),
    sealedSecrets: gauge('sealed_secrets', 'Secrets in Redis by the name of the key that sealed them.', [
      'key',
    ]),
    sealingKey: gauge('sealing_key', '1 for the first key of ENCRYPTION_KEY, which seals secrets now.', [
      'key',
    ]),
    waitingSeconds: gauge(
      'waiting_seconds',
      'How long polls or deliveries that are due have waited without any being taken; 0 while they are.',
      ['queue'],
    ),
  };
}

// Polls, and the requests that they send.
function pollingMetrics({ gauge, counter, histogram }: DefineMetrics) {
  return {
    accountHealth: gauge(
      'account_health',
      'How polling of an account stands: 1 for its state, 0 for the others.',
      ['account', 'state'],
    ),
    accounts: gauge('accounts', 'Accounts by the state of their polling.', ['state']),
    seriesPerAccount: gauge(
      'series_per_account',
      'Whether every account has series of its own (1) or only the worst (0).',
    ),
    gaugesAge: gauge(
      'gauges_age_seconds',
      'How long the oldest change has waited for the gauges to show it.',
    ),
    pollAge: histogram(
      'poll_age_seconds',
      'Accounts by the time since the start of their last complete poll.',
      [10, 30, 60, 120, 300, 600, 1_800, 3_600, 21_600, 86_400],
    ),
    pollDuration: histogram('poll_duration_seconds', 'Duration of a poll of an account.', seconds, [
      'mode',
      'outcome',
    ]),
    partnerRequests: counter(
      'partner_requests_total',
      'Requests sent to the partner service; code is the status or the failure.',
      ['endpoint', 'code'],
    ),
    lastCompletePoll: gauge(
      'last_complete_poll_timestamp_seconds',
      'Start of the last poll that read all it had to.',
      ['account'],
    ),
    oldestPoll: gauge(
      'oldest_poll_seconds',
      'How long ago the last poll began of the account that was polled longest ago.',
    ),
    requestsInTurn: gauge(
      'partner_requests_waiting',
      'Requests of this process that wait for PARTNER_TOTAL_RPS; 0 while it does not bind.',
    ),
  };
}

// Filings and their events.
function filingMetrics({ gauge, counter }: DefineMetrics) {
  return {
    filings: gauge('filings', 'Known filings.', ['account', 'status']),
    allFilings: gauge('all_filings', 'Known filings of all accounts.', ['status']),
    openRejections: gauge('open_rejections', 'Rejections that no other filing answers.', ['account']),
    allOpenRejections: gauge('all_open_rejections', 'The same of all accounts.'),
    oldestFiling: gauge(
      'oldest_filing_seconds',
      'How long the filing that has been in a status for longest has been in it, answered rejections left out; missing without filings.',
      ['account', 'status'],
    ),
    allOldestFiling: gauge('all_oldest_filing_seconds', 'The same over all accounts.', ['status']),
    rejectionsUncovered: gauge(
      'rejections_uncovered',
      'Whether no enabled subscription of an account covers REJECTED (1), or one does (0).',
      ['account'],
    ),
    accountsUncovered: gauge('accounts_uncovered', 'Number of such accounts.'),
    events: counter('events_total', 'Events recorded in the log.', ['type']),
    filingsTooLarge: counter(
      'filings_too_large_total',
      'Events recorded without their filing, which was too large.',
    ),
  };
}

// Attempts to deliver, and what they need.
function deliveryMetrics({ gauge, counter, histogram }: DefineMetrics) {
  return {
    deliveries: counter('deliveries_total', 'Attempts to deliver, by outcome code.', ['outcome']),
    deliveryDuration: histogram('delivery_duration_seconds', 'Duration of one attempt to deliver.', seconds),
    detectToDelivery: histogram(
      'detect_to_delivery_seconds',
      'From the recording of an event to its acknowledgement.',
      [...seconds, 3600, 86_400],
    ),
    deadLetters: counter('dead_letters_total', 'Events given up for a subscription.'),
    filterUndecided: counter(
      'filter_undecided_total',
      'Events delivered because the filter of a subscription could not decide.',
    ),
    tokenRequests: counter(
      'token_requests_total',
      'Requests for tokens of endpoints behind OAuth 2.0, by outcome.',
      ['outcome'],
    ),
    proxyUp: gauge(
      'proxy_up',
      'Whether a forward proxy works (1) or is down, so that all waits for it (0).',
      ['proxy'],
    ),
    proxyErrors: counter('proxy_errors_total', 'Connections that a forward proxy did not make, by reason.', [
      'proxy',
      'reason',
    ]),
  };
}

// Subscriptions and what waits for them.
function subscriptionMetrics({ gauge, histogram }: DefineMetrics) {
  return {
    subscriptions: gauge('subscriptions', 'Subscriptions by state.', ['state']),
    subscriptionLag: gauge('subscription_lag', 'Events that a subscription asked for and has not got yet.', [
      'account',
      'subscription',
    ]),
    allSubscriptionLag: gauge(
      'all_subscription_lag',
      'Events that wait for all subscriptions that are not disabled, together.',
    ),
    subscriptionLags: histogram(
      'subscription_lags',
      'Subscriptions by the number of events that wait for them.',
      [0, 10, 100, 1_000, 10_000, 100_000],
    ),
    subscriptionFailing: gauge(
      'subscription_failing_seconds',
      'How long a failing subscription has failed.',
      ['account', 'subscription'],
    ),
    waitingSubscriptions: gauge(
      'subscriptions_waiting',
      'Subscriptions to which nothing is sent now, by the reason that notBefore has in the API.',
      ['reason'],
    ),
    throttledSubscriptions: gauge(
      'throttled_subscriptions',
      'Subscriptions whose events wait only because of their rate.',
    ),
    certificateEnd: gauge(
      'certificate_end_timestamp_seconds',
      'When the first certificate ends that a subscription of the account uses.',
      ['account'],
    ),
    allCertificateEnd: gauge(
      'all_certificate_end_timestamp_seconds',
      'The same over all accounts; NaN without certificates.',
    ),
  };
}

/**
 * Registers every metric; labels are bounded: accounts, subscriptions, the partner's endpoints, outcome
 * codes, event types, statuses. `linesLost` is the number of lines so far that the logger could not write.
 */
export function createMetrics(linesLost: () => number = () => 0) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const define = defineMetrics(registry);
  const metrics = {
    registry,
    ofAccounts: createAccountCounters(registry),
    ...storeMetrics(define),
    ...pollingMetrics(define),
    ...filingMetrics(define),
    ...deliveryMetrics(define),
    ...subscriptionMetrics(define),
    logLinesLost: new Counter({
      ...define.common(
        'log_lines_lost_total',
        'Lines of the log of this process that could not be written.',
        [],
      ),
      collect() {
        this.reset();
        this.inc(linesLost());
      },
    }),
  };
  // Unknown before the first check of Redis.
  metrics.redisSafe.set(NaN);
  metrics.allCertificateEnd.set(NaN);
  // Missing until the accounts were read: 0 would be a value.
  const { allSubscriptionLag, throttledSubscriptions, seriesPerAccount, accountsUncovered } = metrics;
  for (const each of [allSubscriptionLag, throttledSubscriptions, seriesPerAccount, accountsUncovered])
    each.remove();
  for (const each of [metrics.pollAge, metrics.subscriptionLags]) each.reset();
  // From the start: rate() does not see the first increase of a new counter.
  for (const type of loggedEventTypes) metrics.events.inc({ type }, 0);
  for (const outcome of Object.keys(outcomeKinds)) metrics.deliveries.inc({ outcome }, 0);
  for (const outcome of ['granted', 'failed']) metrics.tokenRequests.inc({ outcome }, 0);
  for (const kind of recordKinds) metrics.unreadableRecords.inc({ kind }, 0);
  return metrics;
}
