import { Type } from 'typebox';
import type { Triage } from '../../filings/detection/triage.ts';
import { folded } from '../../words/folded.ts';
import * as s from '../shared/schema.ts';

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
