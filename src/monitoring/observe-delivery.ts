import type { Logger } from 'pino';
import type { TokenRequestReport } from '../callbacks/authorization/bearers.ts';
import type { AttemptReport } from '../delivery/drain/settlement.ts';
import type { SubscriptionDrainer, SubscriptionDrainerDeps } from '../delivery/drain/drainer.ts';
import type { VerifierDeps } from '../delivery/ownership/verifier.ts';
import type { Tracing } from '../tracing/tracing.ts';
import type { WorkTally } from './due-work/tally.ts';
import type { AccountMarks } from './gauges/account-marks.ts';
import type { Metrics } from './metrics.ts';

export interface DeliveryObserverDeps {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracing: Pick<Tracing, 'drain' | 'attemptReported'>;
  /** Counts the progress of this process's drains. */
  readonly tally: Pick<WorkTally, 'gotOn'>;
  /** Marks accounts for the gauges. */
  readonly accountMarks: Pick<AccountMarks, 'changed'>;
  /** Maximum number of attempts that the retry schedule has for an event. */
  readonly attemptsMax: number;
}

type Drain = SubscriptionDrainer['drain'];

/** Turns drains and their reports into log lines, metrics and spans. */
export type DeliveryObserver = Pick<
  SubscriptionDrainerDeps,
  'onAttempt' | 'onBlocked' | 'onExpired' | 'onDisabled' | 'onUndecided'
> &
  Pick<VerifierDeps, 'onVerified' | 'onUnverified'> & {
    /** Called after each request for a token of an endpoint. */
    onTokenRequest(report: TokenRequestReport): void;
    /** The same drain, with a span for each run. */
    traced(drain: Drain): Drain;
  };

/** An observer of this process's drains. A receiver's failure is a warning, not an error of the daemon. */
export function observeDelivery(deps: DeliveryObserverDeps): DeliveryObserver {
  const { logger, metrics, tracing, tally, accountMarks } = deps;
  return {
    traced:
      (drain) =>
      async (account, subscription, ...rest) => {
        try {
          return await tracing.drain(account, subscription, () => drain(account, subscription, ...rest));
        } finally {
          accountMarks.changed(account);
        }
      },

    onAttempt(report) {
      tally.gotOn();
      accountMarks.changed(report.subscription.account);
      countAttempt(metrics, report);
      logAttempt(deps, report);
      tracing.attemptReported(report);
    },

    onBlocked(account, subscription, { reason, times, nextAt }) {
      const line = { account, subscription, reason, times, nextAt: new Date(nextAt).toISOString() };
      logger.error(line, 'delivery.blocked');
    },

    onVerified({ account, id }, { method, allowedRate }) {
      accountMarks.changed(account);
      logger.info({ account, subscription: id, method, allowedRate }, 'subscription.verified');
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
  };
}

function countAttempt(metrics: Metrics, { attempt, entry, sent, deadLetter }: AttemptReport): void {
  metrics.deliveries.inc({ outcome: attempt.outcome });
  metrics.deliveryDuration.observe(attempt.durationMs / 1000);
  if (sent.outcome.kind === 'delivered')
    metrics.detectToDelivery.observe(Math.max(0, attempt.at - entry.recordedAt) / 1000);
  if (deadLetter) metrics.deadLetters.inc();
}

/** Logs one wide line for each attempt, and a second one for an event that becomes a dead letter. */
function logAttempt({ logger, attemptsMax }: DeliveryObserverDeps, report: AttemptReport): void {
  const { subscription, attempt, sent, deadLetter, nextAttemptAt } = report;
  const { eventId, eventType, filingId, outcome, statusCode, durationMs } = attempt;
  const line = {
    account: subscription.account,
    subscription: subscription.id,
    event: eventId,
    type: eventType,
    filing: filingId,
    attempt: attempt.attempt,
    outcome,
    statusCode,
    durationMs,
  };
  if (sent.outcome.kind === 'aborted') {
    logger.info(line, 'delivery.aborted');
    return;
  }
  const nextAt = nextAttemptAt === null ? null : new Date(nextAttemptAt).toISOString();
  const attempts = subscription.retryMs == null ? attemptsMax : subscription.retryMs.length + 1;
  const full = { ...line, attemptsMax: attempts, nextAttemptAt: nextAt, deadLetter };
  if (sent.outcome.kind === 'delivered') {
    logger.info(full, 'delivery.delivered');
    return;
  }
  logger.warn({ ...full, reason: sent.outcome.reason }, 'delivery.failed');
  if (deadLetter) logger.warn(line, 'delivery.given_up');
}
