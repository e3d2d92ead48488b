import type { Logger } from 'pino';
import { onceForAll } from '../memory/shared-work.ts';
import type { RedisClient } from '../redis/connection/connect.ts';
import type { Metrics } from './metrics.ts';
import {
  causeOf,
  isCurrent,
  needsRestart,
  nextWait,
  waitedMs,
  waitsTooLong,
  type QueueLook,
  type Wait,
  type WaitCause,
} from './wait.ts';
import type { WorkTally } from './work-tally.ts';

type QueueName = 'poll' | 'deliver';

/** The key of a part of a BullMQ queue. */
type QueueKey = (part: string) => string;

/** A queue that this process takes work from. */
export interface WatchedQueue {
  readonly name: QueueName;
  readonly key: QueueKey;
  readonly tally: Pick<WorkTally, 'read'>;
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

/** Watches that due work is taken, by this process or another. */
export type WorkWatch = ReturnType<typeof createWorkWatch>;

/** Watches the queues that this process works on; the caller calls `look` every two seconds. */
export function createWorkWatch(deps: WorkWatchDeps) {
  const watched = deps.queues.map((queue) => ({ ...watchQueue(deps, queue), name: queue.name }));
  const expected = new Map<QueueName, number | null>();
  const lookAtAll = async () =>
    void (await Promise.all(watched.map(({ look, name }) => look(expected.get(name) ?? null))));
  const some = (reasons: readonly (string | null)[]) => reasons.filter((reason) => reason !== null);
  return {
    /**
     * Looks once, and counts this process's work since the last look for the other processes. Rejects when
     * Redis does.
     */
    look: onceForAll(lookAtAll, 0),
    /**
     * Expects work of a queue every `everyMs` milliseconds, even from an empty queue. With null, as before
     * the first call, work is expected only while the queue holds some.
     */
    expect: (name: QueueName, everyMs: number | null) => void expected.set(name, everyMs),
    /** One sentence for each queue whose work has waited for too long, with the cause. */
    problems: (): readonly string[] => some(watched.map((each) => each.problem())),
    /** Whether this process is live; if not, the reasons for a restart. */
    liveness(): { readonly live: boolean; readonly reasons: readonly string[] } {
      const reasons = some(watched.map((each) => each.restartReason()));
      return { live: reasons.length === 0, reasons };
    },
  };
}

function watchQueue(deps: WorkWatchDeps, { name, key, tally }: WatchedQueue) {
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
    const seen = { taken, ...(await lookAtQueue(redis, key, deps.wallClock)) };
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
      const waitedInAll = Math.round(current.at - told.at + waitedMs(told));
      logger.info({ queue: name, waitedMs: waitedInAll }, 'queue.resumed');
      told = null;
    }
  }

  const current = () => (wait !== null && isCurrent(wait, now()) ? wait : null);
  return {
    look,
    problem() {
      const known = current();
      return known !== null && waitsTooLong(known)
        ? `Due ${worksOf[name]} wait, for ${Math.round(waitedMs(known) / 1000)} s now, and none is taken: ${causes[cause]}`
        : null;
    },
    restartReason() {
      const known = current();
      return known !== null && needsRestart(known, cause)
        ? `Due ${worksOf[name]} wait and this process takes none: restart it.`
        : null;
    },
  };
}

const worksOf: Record<QueueName, string> = { poll: 'polls', deliver: 'deliveries' };

const causes: Record<WaitCause, string> = {
  connection: 'the connection of the workers to Redis is not up.',
  hanging: 'those under way in this process do not get on.',
  lease: 'their accounts are leased to polls in other processes that do not get on.',
  worker: 'the worker of this process has room and a connection, and gets none.',
};

function isExpected({ everyMs, dueSince }: Wait): boolean {
  return everyMs !== null || dueSince !== null;
}

// BullMQ keeps the time of a delayed job in the upper bits of its score.
const scorePerMs = 0x1000;

// The cost of a look does not depend on the length of the queue. `now` is in milliseconds on the wall clock,
// by which workers promote delayed jobs.
async function lookAtQueue(
  redis: RedisClient,
  key: QueueKey,
  now: () => number,
): Promise<Omit<QueueLook, 'taken'>> {
  const [first, later, [, firstScore], oldestActive, paused] = await Promise.all([
    redis.llen(key('wait')),
    redis.zcard(key('prioritized')),
    redis.zrange(key('delayed'), '0', '0', 'WITHSCORES'),
    redis.lindex(key('active'), -1),
    redis.hexists(key('meta'), 'paused'),
  ]);
  const isOverdue = firstScore !== undefined && Number(firstScore) / scorePerMs < now();
  const isAbandoned = oldestActive !== null && (await redis.exists(key(`${oldestActive}:lock`))) === 0;
  const waiting = first + later;
  return { waiting, due: waiting > 0 || isOverdue || isAbandoned, paused: paused === 1 };
}
