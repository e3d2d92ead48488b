import type { PollingMarks } from './store/marks.ts';

/** Why the polls of an account are late although nothing fails. */
export interface LatePolls {
  readonly reason: 'partner_budget';
  /** Milliseconds for which the last poll waited for its turns. */
  readonly waitedMs: number;
  /** The cause and the remedy, for the operator. */
  readonly detail: string;
}

/**
 * Why polls are late: the last one waited longer than a poll interval for its turns at the host, which all
 * accounts share. Null when it did not. Pure.
 */
export function latePolls(
  { budgetWaitMs }: Pick<PollingMarks, 'budgetWaitMs'>,
  pollIntervalMs: number,
): LatePolls | null {
  if (budgetWaitMs <= pollIntervalMs) return null;
  const seconds = Math.max(1, Math.round(budgetWaitMs / 1_000));
  const detail =
    `The last poll waited ${seconds} s for its turns, because PARTNER_TOTAL_RPS bounds the requests of all ` +
    'accounts to its host: raise it if the partner service allows more, or poll less often (pollIntervalMs).';
  return { reason: 'partner_budget', waitedMs: budgetWaitMs, detail };
}
