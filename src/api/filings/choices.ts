import { Type } from 'typebox';
import { dueDate, toDueRules, type DueRules } from '../../filings/detection/due-dates.ts';
import { stayLimitProblem, toStayLimit } from '../../filings/detection/stay-limits.ts';
import type { ListedFiling } from '../../filings/lists/filing-list-store.ts';
import type { Triage } from '../../filings/detection/triage.ts';
import { folded } from '../../words/folded.ts';
import type { ApiDeps } from '../deps.ts';
import * as s from '../shared/schema.ts';

/** A filing of a list with the time (ms) at which it is due; null for none. */
export type WithDue<T extends ListedFiling> = T & { readonly dueAt: number | null };

/** The rules of these accounts; an account whose settings cannot be read has none. */
export async function dueRulesOf(
  { accounts }: Pick<ApiDeps, 'accounts'>,
  names: readonly string[],
): Promise<ReadonlyMap<string, DueRules | null>> {
  const records = await accounts.some([...new Set(names)]);
  return new Map(records.map((each) => [each.account, 'error' in each ? null : toDueRules(each)]));
}

/** Adds the due dates of filings, by the rules of their accounts. */
export async function withDueDates<T extends ListedFiling & { readonly account: string }>(
  deps: Pick<ApiDeps, 'accounts'>,
  filings: readonly T[],
): Promise<WithDue<T>[]> {
  const rules = await dueRulesOf(
    deps,
    filings.map(({ account }) => account),
  );
  return filings.map((filing) => ({
    ...filing,
    dueAt: dueDate(rules.get(filing.account) ?? null, filing.state.effective),
  }));
}

/** What is wrong with a choice of due dates in a query; null for nothing. */
export function dueChoiceProblem(text: string): string | null {
  if (text === 'overdue' || text === 'none') return null;
  const problem = stayLimitProblem(text, true);
  return problem === null ? null : `${problem}; or overdue, or none`;
}

/**
 * Whether a due date (ms) is chosen at a time (ms): `overdue`, `none`, or one that comes within this duration
 * or is past; pure.
 */
export function isDueWithin(choice: string, dueAt: number | null, now: number): boolean {
  if (choice === 'none') return dueAt === null;
  const within = choice === 'overdue' ? 0 : (toStayLimit(choice)?.ms ?? 0);
  return dueAt !== null && dueAt <= now + within;
}

/** The value of the filter `assignee` for filings without one; no person's name. */
export const unassigned = 'none';

/** The parameters of lists that select by notes on filings. */
export const notedQuery = {
  seen: s.oneOf(['true', 'false'], {
    description: 'Only those that somebody has seen, or nobody. What is not rejected was seen by nobody.',
  }),
  assignee: Type.String({
    minLength: 1,
    maxLength: 100,
    description: `Only those assigned to this person, the name in any case; \`${unassigned}\` = to nobody.`,
    examples: ['Dana Reyes'],
  }),
};

/** The notes that select filings; null = any. */
export interface NotedFilter {
  readonly seen: boolean | null;
  /** Folded; `unassigned` for none. */
  readonly assignee: string | null;
}

/** The filter in a query; pure. */
export function notedFilter(query: {
  readonly seen?: 'true' | 'false';
  readonly assignee?: string;
}): NotedFilter {
  const { seen, assignee } = query;
  return {
    seen: seen === undefined ? null : seen === 'true',
    assignee: assignee === undefined ? null : folded(assignee.trim()),
  };
}

/** Whether the filter selects a filing with these notes; pure. */
export function isNotedAs({ seen, assignee }: Triage, filter: NotedFilter): boolean {
  if (filter.seen !== null && filter.seen !== (seen !== null)) return false;
  return filter.assignee === null || folded(assignee ?? unassigned) === filter.assignee;
}
