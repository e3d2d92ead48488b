import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { AccountFacts, AccountFactsReads } from '../account-facts.ts';
import type { AccountMarkReads } from '../account-marks.ts';
import { createWaitingMarks } from './waiting-marks.ts';

/**
 * Keeps the facts of all accounts in memory while the process is scraped. First it reads every account once,
 * for half of the time at most. Then it reads accounts that were marked, those that changed before those that
 * were only polled, and in between every account once in ten minutes, in case a mark was lost; a fifth of the
 * time at most goes into that.
 */
export interface FactFollower {
  /**
   * The facts of all accounts, as they are at most a moment after their marks. The first call begins; null
   * when not every account was read once in the time for which a scrape waits. Rejects when the last step has
   * failed.
   */
  follow(): Promise<AccountFacts[] | null>;
  /**
   * Milliseconds since the oldest mark that is still to be read was seen, or since it began if not every
   * account was read yet; 0 when there is nothing to read.
   */
  waitingMs(): number;
  /** Ends it; for the end of the process. */
  stop(): void;
}

export interface FactFollowerDeps {
  readonly reads: AccountFactsReads;
  readonly marks: AccountMarkReads;
  /** Some names of accounts from a cursor on ('0' at first), and the next cursor ('0' at the end). */
  readonly names: (cursor: string) => Promise<readonly [next: string, names: readonly string[]]>;
  /** Milliseconds, monotonic. */
  readonly now: () => number;
}

/** Milliseconds. */
export interface FollowerTimes {
  /** Between two looks at the marks. */
  readonly lookMs: number;
  /** In which every account is read again. */
  readonly roundMs: number;
  /** Without a scrape after which none is expected any more. */
  readonly leftMs: number;
  /** That a scrape waits for the first round. */
  readonly firstMs: number;
}

const defaultTimes: FollowerTimes = { lookMs: 1_000, roundMs: 600_000, leftMs: 300_000, firstMs: 2_000 };
// Number of accounts that are read at the same time. In a busy process each answer of Redis waits for its
// turn, so that the first round depends on how often it waits.
const readAtOnce = 20;
const readAtOnceFirst = 100;
const polledAtOnce = 200;
// Milliseconds after which a step ends.
const stepMs = 100;
// Minimum milliseconds of rest after a step, for each one that it took: in the first round, and then.
const firstRestShare = 1;
const restShare = 4;
// Milliseconds, for each of its subscriptions, for which an account that was read is not read again.
const restMsPerSubscription = 1.5;

/** A follower that begins at its first call. */
export function createFactFollower(deps: FactFollowerDeps, times = defaultTimes): FactFollower {
  let following: Following | null = null;
  return {
    async follow() {
      following = following?.isRunning() === true ? following : beginFollowing(deps, times);
      return following.facts();
    },
    waitingMs: () => following?.waitingMs() ?? 0,
    stop: () => following?.stop(),
  };
}

interface Following {
  isRunning(): boolean;
  facts(): Promise<AccountFacts[] | null>;
  waitingMs(): number;
  stop(): void;
}

interface Fact {
  readonly facts: AccountFacts;
  /** The round in which it was read last, and the time from which on it may be read again. */
  readonly round: number;
  readonly restsUntil: number;
}

function beginFollowing({ reads, marks, names, now }: FactFollowerDeps, times: FollowerTimes): Following {
  const known = new Map<string, Fact>();
  const waiting = createWaitingMarks(marks, now);
  const walk = { round: 1, cursor: '0', names: [] as string[], isUnderWay: false, due: 0, at: now() };
  const begunAt = now();
  let isWhole = false;
  const whole = Promise.withResolvers<void>();
  whole.promise.catch(() => undefined);
  const stopping = new AbortController();
  let failure: Error | null = null;
  let askedAt = now();
  let failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);

  const readAccount = (account: string) =>
    waiting.reading(account, ['changed', 'polled'], async () => {
      const { round } = walk;
      const facts = await reads.facts(account);
      if (facts === null) {
        known.delete(account);
        return;
      }
      const { active = 0, failing = 0, disabled = 0 } = facts.subscriptions?.byState ?? {};
      const restsUntil = now() + (active + failing + disabled) * restMsPerSubscription;
      known.set(account, { facts, round, restsUntil });
    });

  async function readPolled(account: string): Promise<void> {
    const former = known.get(account);
    if (former === undefined) return readAccount(account);
    return waiting.reading(account, ['polled'], async () => {
      const facts = await reads.afterPoll(former.facts);
      // Another read may have ended meanwhile, of more than the marks.
      const latest = known.get(account);
      if (latest !== undefined)
        known.set(account, { ...latest, facts: { ...latest.facts, marks: facts.marks } });
    });
  }

  function* rested(): Generator<string> {
    for (const account of waiting.of('changed'))
      if ((known.get(account)?.restsUntil ?? 0) <= now()) yield account;
  }

  async function takeNext(): Promise<string[]> {
    const passed = now() - walk.at;
    walk.at = now();
    walk.due = Math.min(known.size, walk.due + (known.size * passed) / times.roundMs);
    if (isWhole && walk.due < 1) return [];
    if (walk.names.length === 0) {
      const [next, found] = await names(walk.cursor);
      walk.cursor = next;
      walk.names = [...found];
      walk.isUnderWay = true;
    }
    const taken = walk.names.splice(0, isWhole ? Math.min(readAtOnce, walk.due) : readAtOnceFirst);
    walk.due = Math.max(0, walk.due - taken.length);
    return taken;
  }

  async function readNext(): Promise<boolean> {
    const next = await takeNext();
    try {
      await Promise.all(next.map(readAccount));
    } catch (error) {
      walk.names.unshift(...next);
      throw error;
    }
    if (walk.isUnderWay && walk.names.length === 0 && walk.cursor === '0') endRound();
    return next.length > 0 || !isWhole;
  }

  // An account that the round has not met was removed, unless it was read since: then it is new.
  function endRound(): void {
    for (const [account, { round }] of known) if (round < walk.round) known.delete(account);
    walk.round += 1;
    walk.isUnderWay = false;
    isWhole = true;
    whole.resolve();
  }

  // Returns false when there is nothing to do. Marks wait for the end of the first round, which reads most of
  // their accounts anyway: where polls come as fast as accounts are read, it would never end.
  async function readOnce(): Promise<boolean> {
    if (!isWhole) return readNext();
    const changed = first(rested(), readAtOnce);
    const polled = changed.length > 0 ? [] : first(waiting.of('polled'), polledAtOnce);
    await Promise.all([...changed.map(readAccount), ...polled.map(readPolled)]);
    return changed.length + polled.length > 0 || readNext();
  }

  // Returns true when there may be more to do.
  async function step(): Promise<boolean> {
    const stepBegunAt = now();
    await waiting.look();
    while (now() - stepBegunAt < stepMs) {
      if (!(await readOnce())) return false;
      await nextTurn();
    }
    return true;
  }

  async function run(): Promise<void> {
    while (now() - askedAt < times.leftMs && !stopping.signal.aborted) {
      const stepBegunAt = now();
      const share = isWhole ? restShare : firstRestShare;
      let leastMs = times.lookMs;
      try {
        if (await step()) leastMs = 0;
        failure = null;
      } catch (error) {
        failure = error as Error;
        failed.reject(failure);
        failed = Promise.withResolvers<never>();
        failed.promise.catch(() => undefined);
      }
      const rest = Math.max(leastMs, share * (now() - stepBegunAt));
      await delay(rest, undefined, { signal: stopping.signal, ref: false }).catch(() => undefined);
    }
    stopping.abort();
  }
  void run();

  return {
    isRunning: () => !stopping.signal.aborted,
    async facts() {
      askedAt = now();
      if (failure !== null) throw failure;
      const answered = new AbortController();
      const late = delay(times.firstMs, undefined, { signal: answered.signal, ref: false });
      await Promise.race([whole.promise, failed.promise, late]).finally(() => answered.abort());
      return isWhole ? Array.from(known.values(), ({ facts }) => facts) : null;
    },
    waitingMs() {
      const since = isWhole ? waiting.oldestSeenAt() : begunAt;
      return since === null ? 0 : now() - since;
    },
    stop: () => stopping.abort(),
  };
}

function first<T>(all: Iterable<T>, max: number): T[] {
  const taken: T[] = [];
  for (const each of all) {
    if (taken.length === max) break;
    taken.push(each);
  }
  return taken;
}
