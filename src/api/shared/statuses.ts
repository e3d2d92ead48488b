import { knownStatuses } from '../../partner/filing-statuses.ts';
import { meant } from '../../words/near-name.ts';

/** Statuses as a client may name them, in any case: in upper case, each once; pure. */
export function inUpperCase(statuses: readonly string[]): string[] {
  return [...new Set(statuses.map((status) => status.toUpperCase()))];
}

/** Whether every one of these is a status of the partner service, in any case; pure. */
export function areKnown(statuses: readonly string[]): boolean {
  return inUpperCase(statuses).every((status) => knownStatuses.includes(status));
}

/**
 * Why a text is no status, and which one was probably meant; null for those that are known and those among
 * `seen`, in any case; pure.
 */
export function statusProblem(status: string, seen: readonly string[]): string | null {
  const upper = status.toUpperCase();
  const all = inUpperCase([...knownStatuses, ...seen]);
  if (all.includes(upper)) return null;
  return `"${status}" is no status that a filing of this account has had${meant(upper, all) || '.'} There are ${all.join(', ')}`;
}
