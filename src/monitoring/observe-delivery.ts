import type { Logger } from 'pino';
import type { TokenRequestReport } from '../callbacks/bearers.ts';
import type { DelivererDeps } from '../delivery/account/deliverer.ts';
import type { Deliverers } from '../delivery/account/deliverers.ts';
import type { AttemptReport } from '../delivery/settlement.ts';
import type { EndExpiredDeps } from '../delivery/expiry.ts';
import type { VerifierDeps } from '../delivery/ownership.ts';
import type { Tracing } from '../tracing/tracing.ts';
import type { WorkTally } from './work-tally.ts';
import type { Metrics } from './metrics.ts';

export interface DeliveryObserverDeps {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracing: Pick<Tracing, 'run' | 'attemptReported'>;
  /** Counts the progress of this process's deliveries. */
  readonly tally: Pick<WorkTally, 'gotOn'>;
  /** Maximum number of attempts that the retry schedule has for an event. */
  readonly attemptsMax: number;
}

type Run = Deliverers['run'];

/** Turns deliveries and their reports into log lines, metrics and spans. */
export type DeliveryObserver = Pick<
  DelivererDeps,
  'onAttempts' | 'onBlocked' | 'onExpired' | 'onDisabled' | 'onRecovered' | 'onUndecided'
> &
  Pick<VerifierDeps, 'onVerified' | 'onUnverified'> & {
    /** Called after an expired subscription was removed. */
    onRemovedExpired: EndExpiredDeps['onRemoved'];
    /** Called after each request for a token of an endpoint. */
    onTokenRequest(report: TokenRequestReport): void;
    /** The same, with a span for each run. */
    traced(run: Run): Run;
  };

/**
 * An observer of this process's deliveries. A receiver's failure is a warning, not an error of the daemon.
 */
export function observeDelivery(deps: DeliveryObserverDeps): DeliveryObserver {
  const { logger, metrics, tracing, tally, attemptsMax } = deps;
  return {
    traced:
      (run) =>
      (account, ...rest) =>
        tracing.run(account, () => run(account, ...rest)),

    onAttempts(reports) {
      tally.gotOn();
      countAttempts(metrics, reports);
      for (const report of reports) {
        logAttempt(logger, attemptsMax, report);
        tracing.attemptReported(report);
      }
    },

    onBlocked(account, subscription, { reason, times, nextAt }) {
      const line = { account, subscription, reason, times, nextAt: new Date(nextAt).toISOString() };
      logger.error(line, 'delivery.blocked');
    },

    onRemovedExpired({ account, id }) {
      logger.info({ account, subscription: id }, 'subscription.removed_expired');
    },

    onVerified({ account, id }) {
      logger.info({ account, subscription: id }, 'subscription.verified');
    },

    onUnverified({ account, id }, { reason, times, nextAt }) {
      tally.gotOn();
      const line = { account, subscription: id, reason, times, nextAt: new Date(nextAt).toISOString() };
      logger.warn(line, 'subscription.unverified');
    },

    onTokenRequest({ account, subscription, failure }) {
      metrics.tokenRequests.inc({ outcome: failure === null ? 'granted' : 'failed' });
      if (failure !== null)
        logger.warn({ account, subscription, reason: failure.reason }, 'delivery.no_token');
    },

    onExpired({ account, id }, events) {
      metrics.deadLetters.inc(events);
      metrics.events.inc({ type: 'subscription.fell_behind' });
      logger.warn({ account, subscription: id, events }, 'delivery.expired');
    },

    onUndecided() {
      metrics.filterUndecided.inc();
    },

    onDisabled({ account, id }, reason) {
      metrics.events.inc({ type: 'subscription.disabled' });
      logger.warn({ account, subscription: id, reason }, 'subscription.disabled');
    },

    onRecovered({ account, id }, { disabledAt, waiting, lost }) {
      metrics.events.inc({ type: 'subscription.recovered' });
      const line = { account, subscription: id, disabledAt: new Date(disabledAt).toISOString() };
      logger.info({ ...line, waiting, lost }, 'subscription.recovered');
    },
  };
}

function countAttempts(metrics: Metrics, reports: readonly AttemptReport[]): void {
  const outcomes = new Map<string, number>();
  let deadLetters = 0;
  for (const { attempt, entry, sent, deadLetter } of reports) {
    outcomes.set(attempt.outcome, (outcomes.get(attempt.outcome) ?? 0) + 1);
    metrics.deliveryDuration.observe(attempt.durationMs / 1000);
    if (sent.outcome.kind === 'delivered')
      metrics.detectToDelivery.observe(Math.max(0, attempt.at - entry.recordedAt) / 1000);
    if (deadLetter) deadLetters += 1;
  }
  for (const [outcome, count] of outcomes) metrics.deliveries.inc({ outcome }, count);
  if (deadLetters > 0) metrics.deadLetters.inc(deadLetters);
}

/** Logs one wide line for each attempt, and a second one for an event that becomes a dead letter. */
function logAttempt(logger: Logger, attemptsMax: number, report: AttemptReport): void {
  const { subscription, attempt, sent, deadLetter, nextAttemptAt } = report;
  const line = {
    account: subscription.account,
    subscription: subscription.id,
    event: attempt.eventId,
    type: attempt.eventType,
    filing: attempt.filingId,
    attempt: attempt.attempt,
    outcome: attempt.outcome,
    statusCode: attempt.statusCode,
    durationMs: attempt.durationMs,
  };
  if (sent.outcome.kind === 'aborted') {
    logger.info(line, 'delivery.aborted');
    return;
  }
  const full = {
    ...line,
    attemptsMax: subscription.retryMs == null ? attemptsMax : subscription.retryMs.length + 1,
    nextAttemptAt: nextAttemptAt === null ? null : new Date(nextAttemptAt).toISOString(),
    deadLetter,
  };
  if (sent.outcome.kind === 'delivered') {
    logger.info(full, 'delivery.delivered');
    return;
  }
  logger.warn({ ...full, reason: sent.outcome.reason }, 'delivery.failed');
  if (deadLetter) logger.warn(line, 'delivery.given_up');
}
