import type { Logger } from 'pino';
import type { AttemptReport } from '../delivery/drain/settlement.ts';
import type { LogMending } from '../filings/repair/mend-log.ts';
import type { Restoration } from '../filings/repair/restore-commits.ts';
import type { RecordedEvent } from '../filings/observe-filings.ts';
import type { Metrics } from './metrics.ts';
import type { PollReport } from '../polling/pollers.ts';
import type { AofRewriterDeps } from '../redis/durability/aof-rewriter.ts';
import { toUnreadable } from '../redis/unreadable-record.ts';
import type { ReplicaWait } from '../redis/connection/wait-replicas.ts';
import type { Block, Subscription } from '../subscriptions/subscription.ts';

/**
 * One wide log line and the metrics of each poll. A partner service's failure is a warning, not our error.
 */
export function reportPoll(logger: Logger, metrics: Metrics): (report: PollReport) => void {
  return ({ account, outcome, durationMs, requests }) => {
    if (outcome.kind === 'backing_off' || outcome.kind === 'no_place') return;
    const mode = outcome.kind === 'complete' ? outcome.mode : 'none';
    metrics.pollDuration.observe({ mode, outcome: outcome.kind }, durationMs / 1000);
    const line = { account, ...outcome, durationMs: Math.round(durationMs), requests };
    if (outcome.kind === 'complete') {
      logger.info(line, 'poll.completed');
    } else if (outcome.kind === 'doubtful') {
      logger.warn(line, 'poll.doubtful');
    } else {
      logger.warn(line, 'poll.failed');
    }
  };
}

/** The metrics of events in the log, and a warning for each that had to do without its filing. */
export function reportEvents(
  logger: Logger,
  metrics: Metrics,
  filingBytesMax: number,
): (account: string, events: readonly RecordedEvent[]) => void {
  return (account, events) => {
    for (const { id, type, filingId, omittedBytes } of events) {
      metrics.events.inc({ type });
      if (omittedBytes === undefined) continue;
      metrics.filingsTooLarge.inc();
      const line = { account, filing: filingId, event: id, bytes: omittedBytes, max: filingBytesMax };
      logger.warn(line, 'poll.too_large');
    }
  };
}

/** One wide log line and the metrics of each attempt. A receiver's failure is a warning, not our error. */
export function reportAttempt(logger: Logger, metrics: Metrics): (report: AttemptReport) => void {
  return ({ subscription, entry, attempt, sent, deadLetter }) => {
    metrics.deliveries.inc({ outcome: attempt.outcome });
    metrics.deliveryDuration.observe(attempt.durationMs / 1000);
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
    if (sent.outcome.kind === 'delivered') {
      metrics.detectToDelivery.observe(Math.max(0, attempt.at - entry.recordedAt) / 1000);
      logger.info(line, 'delivery.delivered');
      return;
    }
    if (sent.outcome.kind === 'aborted') {
      logger.info(line, 'delivery.aborted');
      return;
    }
    logger.warn({ ...line, reason: sent.outcome.reason }, 'delivery.failed');
    if (!deadLetter) return;
    metrics.deadLetters.inc();
    logger.warn(line, 'delivery.given_up');
  };
}

/** One log line and the metrics of events that retention took before a subscription got them. */
export function reportExpired(
  logger: Logger,
  metrics: Metrics,
): (subscription: Subscription, events: number) => void {
  return ({ account, id }, events) => {
    metrics.deadLetters.inc(events);
    metrics.events.inc({ type: 'subscription.fell_behind' });
    logger.warn({ account, subscription: id, events }, 'delivery.expired');
  };
}

/** One log line and the metric of commits that Redis had lost and that were made up for. */
export function reportRestored(logger: Logger, metrics: Metrics): (restoration: Restoration) => void {
  return ({ account, restored, restated }) => {
    metrics.setBacks.inc();
    logger.warn({ account, restored, restated: restated.length }, 'log.set_back');
  };
}

/**
 * One log line and the metric of logs in which Redis has carried out half a transaction, and that are mended.
 */
export function reportTorn(logger: Logger, metrics: Metrics): (mending: LogMending) => void {
  return ({ account, from, to, removed, restated }) => {
    metrics.tornLogs.inc();
    logger.error({ account, from, to, removed, restated: restated.length }, 'log.torn');
  };
}

/** Log lines and the metric of the append-only files that are rewritten after a start of Redis. */
export function reportRewrites(
  logger: Logger,
  metrics: Metrics,
): Pick<AofRewriterDeps, 'onRewritten' | 'onNotRewritten' | 'onLook'> {
  return {
    onRewritten: (server) => logger.info({ server }, 'redis.aof_rewritten'),
    onNotRewritten: (server, reason) => logger.warn({ server, reason }, 'redis.aof_not_rewritten'),
    onLook: (missing) => metrics.rewritesMissing.set(missing),
  };
}

/** One log line and the metric of subscriptions that a drain has disabled. */
export function reportDisabled(
  logger: Logger,
  metrics: Metrics,
): (subscription: Subscription, reason: string) => void {
  return ({ account, id }, reason) => {
    metrics.events.inc({ type: 'subscription.disabled' });
    logger.warn({ account, subscription: id, reason }, 'subscription.disabled');
  };
}

/**
 * Logs that a subscription cannot be drained, each time that it was tried: once in five minutes before long.
 */
export function reportBlocked(logger: Logger): (account: string, id: string, block: Block) => void {
  return (account, id, { reason, times, nextAt }) => {
    const line = { account, subscription: id, reason, times, nextAt: new Date(nextAt).toISOString() };
    logger.error(line, 'delivery.blocked');
  };
}

/**
 * What commits wait for; each one that too few replicas have is counted, and a line says when replicas are
 * missing and when they are back.
 */
export function reportReplicas(replicas: number, logger: Logger, metrics: Metrics): ReplicaWait {
  return {
    replicas,
    onUnreplicated: () => metrics.unreplicatedCommits.inc(),
    onChange(acknowledged) {
      if (acknowledged === null) logger.info('redis.replicas_back');
      else logger.warn({ wanted: replicas, acknowledged }, 'redis.replicas_missing');
    },
  };
}

/**
 * Logs and counts each step of Redis's clock that this process has seen; `ms` is negative where it was set
 * back.
 */
export function reportStep(logger: Logger, metrics: Metrics): (ms: number) => void {
  return (ms) => {
    metrics.clockSteps.inc();
    logger.warn({ ms }, 'clock.stepped');
  };
}

/** Logs an error once a minute per text: a Redis that is away raises thousands of the same. */
export function logSparingly(logger: Logger, now: () => number): (error: Error) => void {
  const loggedAt = new Map<string, number>();
  return (error) => {
    // Redis says that a command does not suit what a key holds, and not which key.
    const { message } = toUnreadable(error) ?? error;
    const last = loggedAt.get(message) ?? -Infinity;
    if (now() - last < 60_000) return;
    if (loggedAt.size > 1000) loggedAt.clear();
    loggedAt.set(message, now());
    logger.error({ error: message, code: (error as { code?: unknown }).code }, 'background.error');
  };
}
