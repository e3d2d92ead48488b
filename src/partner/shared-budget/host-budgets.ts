import { createReplyTimes } from '../../memory/reply-times.ts';
import { createHostBudget, type HostBudget } from './host-budget.ts';
import type { TurnLimiter } from './turn-limiter.ts';
import type { Urgency } from './urgency.ts';

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
