import { createdGroup, groupsOfStatus, lastTime } from '../detection/age-rank.ts';
import { dueAfter, type DueRules } from '../detection/due-dates.ts';
import { seenStatus } from '../detection/triage.ts';
import type { WalkSource } from './ordered-walk.ts';

// Milliseconds that put filings without a due date behind all others.
const neverMs = 2 * lastTime;

/**
 * The filings of an account in these statuses as the sources of a walk in the order of their age. For a
 * rejection that was so at its first read, that is the age of the filing, if it is known.
 */
export function agedSources(account: string, statuses: readonly string[]): WalkSource[] {
  const rejected = groupsOfStatus(seenStatus);
  return statuses.flatMap((status): WalkSource[] =>
    rejected.includes(status)
      ? [
          { account, status, takes: ({ created }) => created === undefined },
          { account, status: createdGroup(status), by: 'created' },
        ]
      : [{ account, status }],
  );
}

/**
 * The filings of an account in these statuses as the sources of a walk in the order of their due dates. With
 * the order `oldest`, those that are due first come first, and those without a due date last.
 */
export function dueSources(
  account: string,
  rules: DueRules | null,
  statuses: readonly string[],
): WalkSource[] {
  return [...datedSources(account, rules, statuses), ...sourcesOf(account, rules, statuses, null)];
}

/** The same without the filings that have no due date. */
export function datedSources(
  account: string,
  rules: DueRules | null,
  statuses: readonly string[],
): WalkSource[] {
  const lengths = new Set([...(rules?.after.values() ?? [])].map(({ ms }) => ms));
  return [...lengths].flatMap((after) => sourcesOf(account, rules, statuses, after));
}

// The filings that are due this long (ms) after their effective date; null = never.
function sourcesOf(
  account: string,
  rules: DueRules | null,
  statuses: readonly string[],
  after: number | null,
): WalkSource[] {
  const takes: WalkSource['takes'] = ({ effective }) => dueAfter(rules, effective) === after;
  return statuses.map((status) => ({ account, status, by: 'effective', shiftMs: after ?? neverMs, takes }));
}
