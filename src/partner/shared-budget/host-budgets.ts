import { createReplyTimes, type ReplyTimes } from '../../memory/reply-times.ts';
import { createFairQueue, turnKindOf, type TurnKind, type Urgency } from './fair-queue.ts';
import { lateMsMax, type TurnLimiter } from './turn-limiter.ts';

/** The budgets of all hosts: the requests of all accounts and processes to one host share one. */
export interface HostBudgets {
  /**
   * Resolves when a request of the account to the host of `baseUrl` may be sent, which has to be at once.
   * Rejects with the reason of the abort, and as Redis does.
   */
  turn(asker: Asker, signal: AbortSignal): Promise<void>;
  /** Number of requests of this process that wait for a turn. */
  waiting(): number;
}

/** A request that asks for a turn. */
export interface Asker {
  readonly account: string;
  readonly baseUrl: string;
  readonly urgency: Urgency;
}

export interface HostBudgetsDeps {
  readonly limiter: TurnLimiter;
  readonly random: () => number;
}

/** Budgets that are kept while requests wait for them. */
export function createHostBudgets({ limiter, random }: HostBudgetsDeps): HostBudgets {
  const budgets = new Map<string, HostBudget>();
  const replies = createReplyTimes();

  function of(host: string): HostBudget {
    const known = budgets.get(host);
    if (known !== undefined) return known;
    const onIdle = () => void budgets.delete(host);
    const made = createHostBudget({ host, limiter, random, replies, onIdle });
    budgets.set(host, made);
    return made;
  }

  return {
    turn: ({ account, baseUrl, urgency }, signal) => of(hostOf(baseUrl)).turn(account, urgency, signal),
    waiting: () => [...budgets.values()].reduce((sum, budget) => sum + budget.waiting(), 0),
  };
}

/** The host and port of a base address, in lower case; pure. */
export function hostOf(baseUrl: string): string {
  const { protocol, hostname, port } = new URL(baseUrl);
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`;
}

/** The budget of requests to one host, as one process spends it. */
interface HostBudget {
  /**
   * Resolves when a request of the account may be sent, which has to be at once. Rejects with the reason of
   * the abort, and as Redis does.
   */
  turn(account: string, urgency: Urgency, signal: AbortSignal): Promise<void>;
  /** Number of requests that wait for a turn. */
  waiting(): number;
}

interface HostBudgetDeps {
  readonly host: string;
  readonly limiter: TurnLimiter;
  readonly random: () => number;
  /** The time that Redis's replies take at best, of all hosts together. */
  readonly replies: ReplyTimes;
  /** Called when nothing waits any more. */
  readonly onIdle: () => void;
}

interface Waiting {
  readonly go: () => void;
  readonly fail: (error: unknown) => void;
}

// Mean milliseconds by which the only account of a process that waits asks later than it might; with more
// accounts a process asks sooner, so that each of them has the same chance beside those of other processes.
const raceMs: Readonly<Record<TurnKind, number>> = { change: 40, sweep: 10 };
const raceMsMax: Readonly<Record<TurnKind, number>> = { change: 100, sweep: 30 };
// Maximum number of turns that a process takes at once.
const takenMax = 50;

/**
 * A queue of requests and the turns that this process has taken for them. Which request uses a turn is
 * decided when it comes, so an urgent one never waits behind others. A turn whose moment has passed because
 * this process was busy is not used.
 */
function createHostBudget({ host, limiter, random, replies, onIdle }: HostBudgetDeps): HostBudget {
  const queue = createFairQueue<Waiting>();
  const states: Readonly<Record<TurnKind, { held: number; isAsking: boolean }>> = {
    change: { held: 0, isAsking: false },
    sweep: { held: 0, isAsking: false },
  };

  const waiting = () => queue.requests('change') + queue.requests('sweep');

  function pump(kind: TurnKind): void {
    const state = states[kind];
    const wanted = queue.requests(kind) - state.held;
    if (state.isAsking || wanted <= 0) return lookIdle();
    state.isAsking = true;
    void ask(kind, Math.min(wanted, takenMax)).catch((error: unknown) => {
      state.isAsking = false;
      failAll(kind, error);
    });
  }

  function lookIdle(): void {
    const { change, sweep } = states;
    const isBusy = change.isAsking || sweep.isAsking || change.held + sweep.held > 0;
    if (!isBusy && waiting() === 0) onIdle();
  }

  async function ask(kind: TurnKind, wanted: number): Promise<void> {
    const askedAt = performance.now();
    const { taken, inMs } = await limiter.take(host, wanted, kind);
    const answeredAt = performance.now();
    replies.note(answeredAt - askedAt);
    const latestAt = askedAt + replies.least() + lateMsMax;
    for (let i = 0; i < taken; i += 1) {
      states[kind].held += 1;
      const afterMs = inMs + i * limiter.spacingMs;
      useAt(kind, answeredAt + afterMs, latestAt + afterMs);
    }
    if (taken === 0) return askLater(kind, inMs);
    states[kind].isAsking = false;
    pump(kind);
  }

  function askLater(kind: TurnKind, inMs: number): void {
    setTimeout(
      () => {
        states[kind].isAsking = false;
        pump(kind);
      },
      inMs + (queue.hasPerson() ? 0 : handicapMs(kind)),
    );
  }

  // Of several exponential times the shortest is that of each with a probability proportional to its rate.
  function handicapMs(kind: TurnKind): number {
    const accounts = Math.max(1, queue.accounts(kind));
    return Math.min(raceMsMax[kind], (-Math.log(1 - random()) * raceMs[kind]) / accounts);
  }

  function useAt(kind: TurnKind, at: number, latestAt: number): void {
    setTimeout(
      () => {
        const now = performance.now();
        if (now < at) return useAt(kind, at, latestAt);
        states[kind].held -= 1;
        if (now <= latestAt) queue.next(kind)?.go();
        pump(kind);
      },
      Math.max(0, Math.ceil(at - performance.now())),
    );
  }

  function failAll(kind: TurnKind, error: unknown): void {
    for (let left = queue.requests(kind); left > 0; left -= 1) queue.next(kind)?.fail(error);
    lookIdle();
  }

  return {
    waiting,
    async turn(account, urgency, signal) {
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const remove = queue.add(account, urgency, { go: resolve, fail: reject });
      const abort = () => {
        remove();
        reject(signal.reason as Error);
        lookIdle();
      };
      signal.addEventListener('abort', abort);
      pump(turnKindOf(urgency));
      try {
        await promise;
      } finally {
        signal.removeEventListener('abort', abort);
      }
    },
  };
}
