import type { Logger } from 'pino';
import type { Metrics } from '../metrics.ts';
import type { RedisClient } from '../../redis/connection/connect.ts';
import { lookAtQueue, type QueueKey } from './look-at-queue.ts';
import type { WorkTally } from './tally.ts';
import {
  causeOf,
  isCurrent,
  needsRestart,
  nextWait,
  waitedMs,
  waitsTooLong,
  type Wait,
  type WaitCause,
} from './wait.ts';

type QueueName = 'poll' | 'drain';

/** A queue that this process takes work from. */
export interface WatchedQueue {
  readonly name: QueueName;
  /** The keys of its shards. */
  readonly keys: () => readonly QueueKey[];
  readonly tally: Pick<WorkTally, 'read'>;
}

/** Watches that due work is taken, by this process or another. */
export interface WorkWatch {
  /**
   * Looks once, and counts this process's work since the last look for the other processes. Rejects when
   * Redis does.
   */
  look(): Promise<void>;
  /**
   * Expects work of a queue every `everyMs` milliseconds, even from an empty queue. With null, as before the
   * first call, work is expected only while the queue holds some.
   */
  expect(name: QueueName, everyMs: number | null): void;
  /** One sentence for each queue whose work has waited for too long, with the cause. */
  problems(): readonly string[];
  /** Whether this process is live; if not, the reasons for a restart. */
  liveness(): { readonly live: boolean; readonly reasons: readonly string[] };
}

export interface WorkWatchDeps {
  readonly redis: RedisClient;
  /** A hash in which processes count the jobs that they take, a field for each queue. */
  readonly takenKey: string;
  readonly queues: readonly WatchedQueue[];
  /** The reason why the store allows no conclusion, or null. */
  readonly storeProblem: () => string | null;
  /** Whether the workers' connection is up. */
  readonly isConnected: () => boolean;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, 'waitingSeconds'>;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
  /** Milliseconds on the wall clock. */
  readonly wallClock: () => number;
}

interface Watched {
  look(everyMs: number | null): Promise<void>;
  problem(): string | null;
  restartReason(): string | null;
}

/** Watches the queues that this process works on; the caller calls `look` every two seconds. */
export function createWorkWatch(deps: WorkWatchDeps): WorkWatch {
  const watched = deps.queues.map((queue) => ({ ...watchQueue(deps, queue), name: queue.name }));
  const expected = new Map<QueueName, number | null>();
  let underWay: Promise<unknown> | null = null;
  const lookAtAll = () => Promise.all(watched.map(({ look, name }) => look(expected.get(name) ?? null)));
  const some = (reasons: readonly (string | null)[]) => reasons.filter((reason) => reason !== null);
  return {
    async look() {
      await (underWay ??= lookAtAll().finally(() => (underWay = null)));
    },
    expect: (name, everyMs) => void expected.set(name, everyMs),
    problems: () => some(watched.map((each) => each.problem())),
    liveness() {
      const reasons = some(watched.map((each) => each.restartReason()));
      return { live: reasons.length === 0, reasons };
    },
  };
}

function watchQueue(deps: WorkWatchDeps, { name, keys, tally }: WatchedQueue): Watched {
  const { redis, takenKey, logger, metrics, now } = deps;
  let wait: Wait | null = null;
  let cause: WaitCause = 'worker';
  let skipped = 0;
  let told: Wait | null = null;
  // Whether this process has taken work that is not yet counted in Redis.
  let moved = false;

  async function look(everyMs: number | null): Promise<void> {
    const own = tally.read();
    moved ||= own.moved;
    if (deps.storeProblem() !== null) {
      wait = null;
      return;
    }
    // Written even when there is nothing to add: a Redis that takes no writes hands out no work.
    const taken = await redis.hincrby(takenKey, name, moved ? 1 : 0);
    moved = false;
    const seen = { taken, ...(await lookAtQueue(redis, keys(), deps.wallClock)) };
    wait = nextWait(wait, seen, everyMs, now());
    skipped = waitedMs(wait) === 0 ? 0 : skipped + own.skipped;
    cause = causeOf(own, skipped, deps.isConnected());
    metrics.waitingSeconds.set({ queue: name }, waitedMs(wait) / 1000);
    tell(wait, { waiting: seen.waiting, underWay: own.underWay });
  }

  function tell(current: Wait, facts: { waiting: number; underWay: number }): void {
    const waitingMs = Math.round(waitedMs(current));
    if (told === null && waitsTooLong(current)) {
      told = current;
      logger.error({ queue: name, waitingMs, cause, ...facts }, 'queue.waiting');
    } else if (told !== null && (told.taken !== current.taken || !isExpected(current))) {
      logger.info(
        { queue: name, waitedMs: Math.round(current.at - told.at + waitedMs(told)) },
        'queue.resumed',
      );
      told = null;
    }
  }

  return {
    look,
    problem() {
      return wait !== null && isCurrent(wait, now()) && waitsTooLong(wait)
        ? `Due ${name}s wait, for ${Math.round(waitedMs(wait) / 1000)} s now, and none is taken: ${causes[cause]}`
        : null;
    },
    restartReason() {
      return wait !== null && isCurrent(wait, now()) && needsRestart(wait, cause)
        ? `Due ${name}s wait and this process takes none: restart it.`
        : null;
    },
  };
}

const causes: Record<WaitCause, string> = {
  connection: 'the connection of the workers to Redis is not up.',
  hanging: 'those under way in this process do not get on.',
  lease: 'their accounts are leased to polls in other processes that do not get on.',
  worker: 'the worker of this process has room and a connection, and gets none.',
};

function isExpected({ everyMs, dueSince }: Wait): boolean {
  return everyMs !== null || dueSince !== null;
}
