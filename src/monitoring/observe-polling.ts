import type { Logger } from 'pino';
import { answerType } from '../events/event-types.ts';
import type { PartnerConnectionsDeps } from '../polling/partner-connections.ts';
import { isKnownStatus } from '../partner/filing-statuses.ts';
import type { LooksDeps } from '../polling/looks.ts';
import type { PollReport } from '../polling/poll-reports.ts';
import type { AccountPollerDeps } from '../polling/pollers.ts';
import type { Poll } from '../polling/schedule/poll-worker.ts';
import type { Tracing } from '../tracing/tracing.ts';
import type { WorkTally } from './work-tally.ts';
import type { Metrics } from './metrics.ts';

export interface PollingObserverDeps {
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly tracing: Pick<Tracing, 'poll' | 'pollReported' | 'eventsRecorded'>;
  /** Counts the progress of this process's polls. */
  readonly tally: Pick<WorkTally, 'gotOn'>;
  /** Maximum bytes of a filing, as JSON, that its events carry. */
  readonly filingBytesMax: number;
}

/** Turns polls and their reports into log lines, metrics and spans. */
export type PollingObserver = Pick<AccountPollerDeps, 'onQuarantined' | 'onEvents' | 'onPoll'> & {
  readonly onLook: LooksDeps['onLook'];
  /** Called for each request to the partner service, searches included. */
  readonly onRequest: PartnerConnectionsDeps['onRequest'];
  /** The same poll, with a span for each run that read something. */
  traced(poll: Poll): Poll;
};

/**
 * An observer of this process's polls. A partner service's failure is a warning, not an error of the daemon.
 */
export function observePolling(deps: PollingObserverDeps): PollingObserver {
  const { logger, metrics, tracing, tally, filingBytesMax } = deps;
  return {
    traced:
      (poll) =>
      (job, ...rest) =>
        tracing.poll(job.account, () => poll(job, ...rest)),

    onRequest(endpoint, code) {
      tally.gotOn();
      metrics.partnerRequests.inc({ endpoint, code });
    },

    onQuarantined(account, records, examples) {
      metrics.ofAccounts.quarantined(account, records);
      logger.warn({ account, records, examples }, 'poll.quarantined');
    },

    onEvents(account, events) {
      for (const { id, type, filingId, status, omittedBytes } of events) {
        metrics.events.inc({ type });
        const label = statusLabel(type, filingId, status);
        if (label !== null) metrics.ofAccounts.filingChanged(account, label);
        if (omittedBytes === undefined) continue;
        metrics.filingsTooLarge.inc();
        const line = { account, filing: filingId, event: id, bytes: omittedBytes, max: filingBytesMax };
        logger.warn(line, 'poll.too_large');
      }
      tracing.eventsRecorded(account, events);
    },

    onLook(report) {
      logger.debug(report, 'poll.looked');
    },

    onPoll(report) {
      reportPoll(logger, metrics, report);
      tracing.pollReported(report);
    },
  };
}

/**
 * The label of a change of a filing by the status that it leads to: a known one, `other` or `removed`. Null
 * for events that change no filing.
 */
function statusLabel(type: string, filingId: string, status: string): string | null {
  if (filingId === '' || type === 'filing.stalled' || type === answerType) return null;
  if (type === 'filing.removed') return 'removed';
  return isKnownStatus(status) ? status : 'other';
}

/**
 * Logs one wide line, and records the duration, of each poll that sent requests to the partner service. Most
 * polls find nothing; their lines appear at debug level only.
 */
function reportPoll(
  logger: Logger,
  metrics: Metrics,
  { account, outcome, durationMs, requests }: PollReport,
): void {
  if (outcome.kind === 'backing_off' || outcome.kind === 'no_place') return;
  const mode = outcome.kind === 'complete' ? outcome.mode : 'none';
  metrics.pollDuration.observe({ mode, outcome: outcome.kind }, durationMs / 1000);
  const line = { account, ...outcome, durationMs: Math.round(durationMs), requests };
  if (outcome.kind === 'complete') {
    const isQuiet = outcome.events === 0 && outcome.unread === 0;
    if (isQuiet) logger.debug(line, 'poll.completed');
    else logger.info(line, 'poll.completed');
  } else if (outcome.kind === 'doubtful') logger.warn(line, 'poll.doubtful');
  else logger.warn(line, 'poll.failed');
}
