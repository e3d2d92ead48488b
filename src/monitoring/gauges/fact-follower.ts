import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import type { AccountFacts, AccountFactsReads } from './account-facts.ts';
import type { AccountMarkReads, MarkKind } from './account-marks.ts';

/**
 * Keeps the facts of all accounts in memory while the process is scraped. It reads accounts that were marked,
 * those that changed before those that were only polled, and in between every account once in ten minutes,
 * in case a mark was lost. A fifth of the time at most goes into it.
 */
export interface FactFollower {
  /**
   * The facts of all accounts, as they are at most a moment after their marks. The first call begins;
   * resolves when every account was read once. Rejects when the last step has failed.
   */
  follow(): Promise<ReadonlyMap<string, AccountFacts>>;
  /** Milliseconds since the oldest mark that is still to be read was seen; 0 when there is none. */
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
  /** After which nobody is expected to scrape any more. */
  readonly leftMs: number;
}

const defaultTimes: FollowerTimes = { lookMs: 1_000, roundMs: 600_000, leftMs: 300_000 };
// Number of accounts that are read at the same time.
const readAtOnce = 20;
// Milliseconds after which a step ends.
const stepMs = 100;
// Minimum milliseconds of rest after a step, for each one that it took.
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
  facts(): Promise<ReadonlyMap<string, AccountFacts>>;
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
  // Marked accounts, and when their first mark was seen.
  const waiting: Record<MarkKind, Map<string, number>> = { changed: new Map(), polled: new Map() };
  const places: Record<MarkKind, number> = { changed: -1, polled: -1 };
  const walk = { round: 1, cursor: '0', names: [] as string[], isUnderWay: false, due: 0, at: now() };
  let isWhole = false;
  const whole = Promise.withResolvers<void>();
  whole.promise.catch(() => undefined);
  const stopping = new AbortController();
  let failure: Error | null = null;
  let askedAt = now();
  let failed = Promise.withResolvers<never>();
  failed.promise.catch(() => undefined);

  async function readAccount(account: string): Promise<void> {
    const { round } = walk;
    const facts = await reads.facts(account);
    if (facts === null) {
      known.delete(account);
      return;
    }
    const { active = 0, failing = 0, disabled = 0 } = facts.subscriptions?.byState ?? {};
    const restsUntil = now() + (active + failing + disabled) * restMsPerSubscription;
    known.set(account, { facts, round, restsUntil });
  }

  async function readPolled(account: string): Promise<void> {
    const former = known.get(account);
    if (former === undefined) return readAccount(account);
    const facts = await reads.afterPoll(former.facts);
    // Another read may have ended meanwhile, of more than the marks.
    const latest = known.get(account);
    if (latest !== undefined)
      known.set(account, { ...latest, facts: { ...latest.facts, marks: facts.marks } });
  }

  async function look(kind: MarkKind): Promise<void> {
    // What was marked before is read in the first round.
    if (places[kind] < 0) places[kind] = await marks.newest(kind);
    for (;;) {
      const found = await marks.after(kind, places[kind]);
      for (const [account, place] of found) {
        if (!waiting[kind].has(account)) waiting[kind].set(account, now());
        places[kind] = place;
      }
      if (found.length === 0) return;
    }
  }

  function* rested(): Generator<string> {
    for (const account of waiting.changed.keys())
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
    const taken = walk.names.splice(0, isWhole ? Math.min(readAtOnce, walk.due) : readAtOnce);
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

  async function readSome(kind: MarkKind, accounts: readonly string[]): Promise<void> {
    const read = kind === 'changed' ? readAccount : readPolled;
    await Promise.all(
      accounts.map(async (account) => {
        const seenAt = waiting[kind].get(account);
        // A mark that comes while the account is read counts for the next read.
        waiting[kind].delete(account);
        try {
          await read(account);
        } catch (error) {
          if (!waiting[kind].has(account)) waiting[kind].set(account, seenAt ?? now());
          throw error;
        }
      }),
    );
  }

  // Returns false when there is nothing to do.
  async function readOnce(): Promise<boolean> {
    const changed = first(rested(), readAtOnce);
    if (changed.length > 0) {
      await readSome('changed', changed);
      return true;
    }
    const polled = first(waiting.polled.keys(), readAtOnce);
    if (polled.length > 0) {
      await readSome('polled', polled);
      return true;
    }
    return readNext();
  }

  async function step(): Promise<void> {
    const begunAt = now();
    await look('changed');
    await look('polled');
    while (now() - begunAt < stepMs && (await readOnce())) await nextTurn();
  }

  async function run(): Promise<void> {
    while (now() - askedAt < times.leftMs && !stopping.signal.aborted) {
      const begunAt = now();
      try {
        await step();
        failure = null;
      } catch (error) {
        failure = error as Error;
        failed.reject(failure);
        failed = Promise.withResolvers<never>();
        failed.promise.catch(() => undefined);
      }
      const rest = Math.max(isWhole || failure !== null ? times.lookMs : 0, restShare * (now() - begunAt));
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
      await Promise.race([whole.promise, failed.promise]);
      return new Map(Array.from(known, ([account, { facts }]) => [account, facts]));
    },
    waitingMs() {
      const oldest = [waiting.changed, waiting.polled].flatMap((each) => first(each.values(), 1));
      return oldest.length === 0 ? 0 : now() - Math.min(...oldest);
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
