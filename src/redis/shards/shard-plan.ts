/**
 * The number of shards, as all processes of a deployment have agreed on it. All times are milliseconds on
 * Redis's clock.
 */
export interface ShardPlan {
  /** Number of shards in force: `shardOf` finds an account's jobs with it. */
  readonly number: number;
  /** The time from which it is in force. */
  readonly since: number;
  /** The number before it, while drains that began under that one may be under way; else null. */
  readonly former: number | null;
  /** Whether the schedulers of all accounts were moved since `since`. */
  readonly moved: boolean;
  /** The number that comes in force at `nextAt`; null when no change is announced. */
  readonly next: number | null;
  readonly nextAt: number;
  /** The number that the process which started last asks for. */
  readonly wanted: number;
  /** Shards from this one on hold no jobs. */
  readonly highest: number;
}

/**
 * Milliseconds between the announcement of a number and its coming in force. Every process reads the plan
 * again within that time before it starts a drain.
 */
export const announceMs = 10_000;
/**
 * Milliseconds after a change in which no drain begins in an account's new shard. The clocks of two processes
 * differ by less, so a drain that another process has begun before the change is seen.
 */
export const gapMs = 1_000;

/** The plan of a deployment whose queues hold nothing outside the first `number` shards; pure. */
export function steadyPlan(number: number, wanted: number = number): ShardPlan {
  return { number, since: 0, former: null, moved: true, next: null, nextAt: 0, wanted, highest: number };
}

/** The plan as it is at a time: an announced number comes in force by itself; pure. */
export function planAt(plan: ShardPlan, now: number): ShardPlan {
  const { number, next, nextAt } = plan;
  if (next === null || now < nextAt) return plan;
  return { ...plan, number: next, since: nextAt, former: number, moved: false, next: null, nextAt: 0 };
}

/**
 * The plan after the step that is due, the same object when none is; pure. A number that is wanted is
 * announced once the change before it is over: `settleMs` have passed, in which every drain that began before
 * it has ended, and the schedulers were moved. A clock that was set back begins the present wait anew.
 */
export function advancePlan(before: ShardPlan, now: number, settleMs: number): ShardPlan {
  const plan = planAt(before, now);
  const { number, since, former, moved, next, nextAt, wanted } = plan;
  if (next !== null) return nextAt > now + announceMs ? { ...plan, nextAt: now + announceMs } : plan;
  if (former !== null) {
    if (since > now) return { ...plan, since: now };
    return moved && now - since >= settleMs ? { ...plan, former: null } : plan;
  }
  if (wanted === number) return plan;
  const highest = Math.max(plan.highest, wanted);
  return { ...plan, next: wanted, nextAt: now + announceMs, highest };
}

/** Reads a stored plan; null when it is missing or is none. */
export function parsePlan(text: string | null): ShardPlan | null {
  if (text === null) return null;
  try {
    const stored = JSON.parse(text) as Partial<Record<keyof ShardPlan, unknown>> | null;
    const number = countOf(stored?.number);
    if (number === null) return null;
    return {
      number,
      since: timeOf(stored?.since),
      former: countOf(stored?.former),
      moved: stored?.moved === true,
      next: countOf(stored?.next),
      nextAt: timeOf(stored?.nextAt),
      wanted: countOf(stored?.wanted) ?? number,
      highest: Math.max(number, countOf(stored?.highest) ?? 0, countOf(stored?.next) ?? 0),
    };
  } catch {
    return null;
  }
}

/** Maximum number of shards. */
export const shardsMax = 64;

function countOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= shardsMax
    ? value
    : null;
}

function timeOf(value: unknown): number {
  return typeof value === 'number' && value > 0 ? value : 0;
}
