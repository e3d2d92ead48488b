import { randomUUID } from 'node:crypto';
import type { Config } from '../config/config.ts';
import type { Parts } from './parts.ts';
import { drainsAtOnce, pollsAtOnce } from './upkeep/watch.ts';
import { reportEvents, reportPoll } from '../monitoring/reports.ts';
import { createDrainWorker } from '../delivery/drain-worker.ts';
import { boundedCounts } from '../monitoring/gauges.ts';
import { createAccountPoller } from '../polling/pollers.ts';
import { createPollWorker } from '../polling/schedule/poll-worker.ts';
import { failureOf } from '../redis/unreadable-record.ts';
import type { Part } from './stop-parts.ts';
import type { WorkTally } from '../monitoring/due-work/tally.ts';

// What a crash or a failure kept from being woken while a long poll goes on is woken after so long.
const pollUpkeepMs = 30_000;

// How long each part may take to end; the stores and connections behind them need a few seconds more, and
// there are 30.
const endMs = { polling: 5_000, delivery: 20_000 };
// Milliseconds after which callbacks still in flight are aborted; the rest of the delivery's time is for
// recording that.
const abortMs = 17_000;

/** Takes drains from now on, until the part is stopped. */
export function startDelivery(parts: Parts): Part {
  const { connections, keys, drainQueue, drainer, callbacks, tracing, clock, work, onError } = parts;
  const worker = createDrainWorker({
    connection: connections.blocking(),
    prefix: keys.queues,
    queue: drainQueue,
    concurrency: drainsAtOnce,
    drain: (account, subscription, ...rest) =>
      counted(work.tallies.drain, () =>
        tracing.drain(account, subscription, () => drainer.drain(account, subscription, ...rest)),
      ),
    now: clock.now,
    onError,
  });
  async function stop(): Promise<void> {
    const late = setTimeout(callbacks.abortAll, abortMs);
    try {
      await worker.close();
    } finally {
      clearTimeout(late);
    }
  }
  return { name: 'delivery', deadlineMs: endMs.delivery, needsRedis: true, stop };
}

/** Takes polls from now on, until the part is stopped. */
export function startPolling(config: Config, parts: Parts): Part {
  const {
    stores,
    clock,
    logger,
    metrics,
    tracing,
    waker,
    pollQueue,
    watch,
    keys,
    connections,
    work,
    onError,
  } = parts;
  const logPoll = reportPoll(logger, metrics);
  const noteEvents = reportEvents(logger, metrics, config.filingBytesMax);
  const poll = createAccountPoller({
    ...stores,
    clock,
    random: parts.random,
    partner: config.polling,
    filingBytesMax: config.filingBytesMax,
    doubtLimits: config.doubt,
    onEvents(account, events) {
      noteEvents(account, events);
      tracing.eventsRecorded(account, events);
    },
    wakeMatching: waker.wakeMatching,
    async upkeep(account, failure) {
      const failures = await Promise.all([
        failureOf(() => waker.wakeLagging(account)),
        failureOf(() => noteCounts(stores, account, clock.now())),
      ]);
      await parts.records.lookAndReport(
        account,
        [failure, ...failures].filter((each) => each !== null),
      );
    },
    upkeepMs: pollUpkeepMs,
    onError,
    onRequest(endpoint, code) {
      work.tallies.poll.gotOn();
      metrics.partnerRequests.inc({ endpoint, code });
    },
    onQuarantined(account, records) {
      metrics.quarantined.inc({ account }, records);
      logger.warn({ account, records }, 'poll.quarantined');
    },
    onPoll(report) {
      logPoll(report);
      tracing.pollReported(report);
    },
    onUnknownAccount: pollQueue.unschedule,
    onUnreadable: parts.reports.note,
  });
  const worker = createPollWorker({
    connection: connections.blocking(),
    prefix: keys.queues,
    polling: stores.polling,
    holder: randomUUID(),
    concurrency: pollsAtOnce,
    poll: (job, signal) =>
      counted(work.tallies.poll, async () => {
        await watch.check();
        if (watch.problem() !== null) return true;
        return tracing.poll(job.account, () => poll(job, signal));
      }),
    onSkipped: work.tallies.poll.skipped,
    onError,
  });
  return { name: 'polling', deadlineMs: endMs.polling, needsRedis: true, stop: worker.close };
}

async function noteCounts({ snapshot, countHistory }: Parts['stores'], account: string, at: number) {
  await countHistory.note(account, at, async () => boundedCounts(await snapshot.counts(account)));
}

async function counted<T>(tally: WorkTally, work: () => Promise<T>): Promise<T> {
  tally.started();
  try {
    return await work();
  } finally {
    tally.ended();
  }
}
