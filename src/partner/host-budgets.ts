import { setTimeout as delay } from 'node:timers/promises';
import type { RedisClient } from '../redis/connection/connect.ts';
import type { Keys } from '../redis/keys.ts';
import { defineScript } from '../redis/scripts.ts';

/** The kind of a request, as far as it matters for its turn. */
export type Urgency =
  | 'person' // a client waits for it: a search, the check of a key
  | 'change' // shows changes of filings: deltas, the polls of small accounts, single reads
  | 'sweep'; // a page of a long list

/** A request that asks for a turn. */
export interface Asker {
  readonly account: string;
  readonly baseUrl: string;
  readonly urgency: Urgency;
}

/** The budgets of all hosts: the requests of all accounts and processes to one host share one. */
export type HostBudgets = ReturnType<typeof createHostBudgets>;

export interface HostBudgetsDeps {
  readonly redis: RedisClient;
  readonly keys: Pick<Keys, 'hostBudget'>;
  /** Maximum number of requests to one host in any second. */
  readonly totalRps: number;
}

// Maximum milliseconds by which a request may be later than its turn; a later one needs another turn.
const lateMsMax = 15;
// Milliseconds by which the ways of two requests, and of the replies of Redis before them, may differ.
const wayMs = 45;
// Milliseconds of turns that a process takes at once for changes; a tenth of that for sweeps.
const takenMs = 200;
// One turn of a process in this number goes to a sweep, if one waits.
const sweepEvery = 10;

// Gives evenly spaced turns on Redis's clock (the generic cell rate algorithm without a burst).
// KEYS 1 the time in ms from which the host's next turn is free. ARGV 1 number of turns, 2 ms between two.
// Replies the milliseconds until the first of the turns, which are taken. Only a clock that was set back
// explains turns that are taken for longer than a minute and ten turns.
const takeTurns = defineScript(`
local time = redis.call('TIME')
local now, spacing = time[1] * 1000 + time[2] / 1000, tonumber(ARGV[2])
local free = tonumber(redis.pcall('GET', KEYS[1])) or 0
if free > now + 60000 + 10 * spacing then free = now + spacing end
local first = math.max(now, free)
local behind = first + ARGV[1] * spacing
redis.call('SET', KEYS[1], string.format('%.3f', behind), 'PX', math.ceil(behind - now) + 1000)
return string.format('%.3f', first - now)`);

/** Budgets that are kept while requests wait for them. */
export function createHostBudgets({ redis, keys, totalRps }: HostBudgetsDeps) {
  const budgets = new Map<string, HostBudget>();
  // More than a second divided by the number: no second has more requests, although they are late by
  // different times.
  const spacingMs = (1_000 + lateMsMax + wayMs) / totalRps;

  /** Takes turns. Returns the moment from which on the first of them may be used. */
  async function take(host: string, turns: number): Promise<number> {
    const waitMs = await takeTurns.run(redis, [keys.hostBudget(host)], [turns, spacingMs]);
    return performance.now() + Number(waitMs);
  }

  /** Spends turns until no request waits. */
  async function spend(host: string, budget: HostBudget): Promise<void> {
    try {
      while (budget.waiting.size > 0) await spendSome(host, budget);
    } catch (error) {
      for (const { fail } of budget.waiting) fail(error);
    } finally {
      // In one step with the last look: no request may be added to a budget that is not spent any more.
      budgets.delete(host);
    }
  }

  async function spendSome(host: string, budget: HostBudget): Promise<void> {
    const turns = turnsWanted(budget, spacingMs);
    const firstAt = await take(host, turns);
    for (let i = 0; i < turns; i += 1) {
      const turnAt = firstAt + i * spacingMs;
      await until(turnAt);
      if (performance.now() <= turnAt + lateMsMax) next(budget)?.go();
    }
  }

  /** Lets the request wait for a turn at the host. */
  function add(host: string, request: Waiting): HostBudget {
    const known = budgets.get(host);
    known?.waiting.add(request);
    if (known !== undefined) return known;
    const budget: HostBudget = {
      waiting: new Set([request]),
      used: 0,
      lastUse: new Map(),
      wasPerson: false,
    };
    budgets.set(host, budget);
    void spend(host, budget);
    return budget;
  }

  return {
    /**
     * Resolves when a request of the account to the host of `baseUrl` may be sent, which has to be at once.
     * Rejects with the reason of the abort, and as Redis does.
     */
    async turn({ account, baseUrl, urgency }: Asker, signal: AbortSignal) {
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      const request = { account, urgency, go: resolve, fail: reject };
      const { waiting } = add(hostOf(baseUrl), request);
      const abort = () => {
        waiting.delete(request);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', abort);
      try {
        await promise;
      } finally {
        signal.removeEventListener('abort', abort);
      }
    },
    /** Number of requests of this process that wait for a turn. */
    waiting: (): number => [...budgets.values()].reduce((sum, { waiting }) => sum + waiting.size, 0),
  };
}

/** The host and port of a base address, in lower case; pure. */
export function hostOf(baseUrl: string): string {
  const { protocol, hostname, port } = new URL(baseUrl);
  return `${hostname}:${port || (protocol === 'https:' ? '443' : '80')}`;
}

/** The requests of this process to one host. */
interface HostBudget {
  /** The requests without a turn yet, in the order of their arrival. */
  readonly waiting: Set<Waiting>;
  /** Number of turns used. */
  used: number;
  /** The last turn of each account, as the number of turns used then. */
  readonly lastUse: Map<string, number>;
  /** Whether the last turn was a person's. */
  wasPerson: boolean;
}

interface Waiting extends Pick<Asker, 'account' | 'urgency'> {
  readonly go: () => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Number of turns to take at once: one for each account that waits, so that accounts have the same chance in
 * every process.
 */
function turnsWanted({ waiting }: HostBudget, spacingMs: number): number {
  const urgent = [...waiting].filter(({ urgency }) => urgency !== 'sweep');
  const [requests, ms] = urgent.length > 0 ? [urgent, takenMs] : [[...waiting], takenMs / 10];
  const accounts = new Set(requests.map(({ account }) => account)).size;
  return Math.min(accounts, Math.ceil(ms / spacingMs));
}

/**
 * Takes out the request that uses a turn; null if none waits. People come first, but not twice in a row while
 * changes wait; sweeps come last, but for one turn in ten. Among equals the account goes first whose last
 * turn is the longest ago.
 */
function next(budget: HostBudget): Waiting | null {
  const { waiting, lastUse, wasPerson } = budget;
  const isForSweep = budget.used % sweepEvery === sweepEvery - 1;
  const ranks = { person: wasPerson ? 2 : 0, change: 1, sweep: isForSweep ? -1 : 3 };
  const isBefore = (a: Waiting, b: Waiting) =>
    ranks[a.urgency] - ranks[b.urgency] || (lastUse.get(a.account) ?? -1) - (lastUse.get(b.account) ?? -1);
  let first: Waiting | null = null;
  for (const request of waiting) if (first === null || isBefore(request, first) < 0) first = request;
  if (first === null) return null;
  waiting.delete(first);
  lastUse.set(first.account, budget.used);
  budget.used += 1;
  budget.wasPerson = first.urgency === 'person';
  return first;
}

// A timer may be early by a part of a millisecond.
async function until(at: number): Promise<void> {
  for (let now = performance.now(); now < at; now = performance.now()) await delay(Math.ceil(at - now));
}
