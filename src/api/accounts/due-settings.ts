import { Type } from 'typebox';
import { anyState, defaultDueWarnings } from '../../filings/detection/due-dates.ts';
import { stayLimitProblem } from '../../filings/detection/stay-limits.ts';
import { cutText } from '../../json/cut-text.ts';
import * as s from '../shared/schema.ts';

// The settings `due` and `dueWarnings` of an account. The rules are the operator's own: no state has one by
// itself.

const dueText = {
  description:
    'When filings are due: an ISO 8601 duration (weeks, days, hours, minutes, seconds) after `policyEffectiveDate`, by state abbreviation, with `*` for the states ' +
    'that have none of their own. Endorsements are due after `endorsementEffectiveDate` where the partner service returns it. These are your own rules: none is built in. Null or {}: no due dates.',
  examples: [{ TX: 'P60D', '*': 'P45D' }],
};

const warningsText = {
  description:
    'How long before the due date one `filing.due` is sent: ISO 8601 durations, at most 10. `P0D` is the due date itself. Null: `["P7D","P0D"]`; []: none is sent.',
  examples: [['P7D', 'P0D']],
};

// Maximum number of states with a rule, and of warnings.
const statesMax = 100;
const warningsMax = 10;
const duration = Type.String({ maxLength: 64 });

/** The settings as a request gives them; state abbreviations in any case. */
export const dueInput = {
  due: Type.Refine(
    s.nullable(Type.Record(Type.String({ maxLength: 64 }), duration, { maxProperties: statesMax }), dueText),
    (value) => dueProblem(value) === null,
    (value) => dueProblem(value) ?? '',
  ),
  dueWarnings: Type.Refine(
    s.nullable(Type.Array(duration, { maxItems: warningsMax }), warningsText),
    (value) => warningsProblem(value) === null,
    (value) => warningsProblem(value) ?? '',
  ),
};

/** The settings as responses show them. */
export const dueShown = {
  due: s.nullable(Type.Record(Type.String(), Type.String()), dueText),
  dueWarnings: Type.Array(Type.String(), warningsText),
};

/** The settings of an account that has none. */
export const noDueSettings = { due: null, dueWarnings: null };

interface DueChange {
  readonly due?: Readonly<Record<string, string>> | null;
  readonly dueWarnings?: readonly string[] | null;
}

/** The settings that a request names, as they are stored: states in capitals, no rules at all as null. */
export function toDueChange({ due, dueWarnings }: DueChange): DueChange {
  const rules = Object.entries(due ?? {}).map(([state, after]) => [state.toUpperCase(), after]);
  const stored = rules.length === 0 ? null : (Object.fromEntries(rules) as Record<string, string>);
  return {
    ...(due === undefined ? {} : { due: stored }),
    ...(dueWarnings === undefined ? {} : { dueWarnings }),
  };
}

/** The warnings of an account, as they are shown. */
export function shownWarnings(stored: readonly string[] | null): string[] {
  return [...(stored ?? defaultDueWarnings)];
}

// Both are null for a value that the rest of the schema refuses, too.
function dueProblem(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const seen = new Set<string>();
  for (const [name, after] of Object.entries(value)) {
    const state = name.toUpperCase();
    const limit = typeof after === 'string' ? stayLimitProblem(after) : null;
    const problem = stateProblem(state, seen) ?? limit;
    if (problem !== null) return `${cutText(state, 64)} ${problem}`;
    seen.add(state);
  }
  return null;
}

function stateProblem(state: string, seen: ReadonlySet<string>): string | null {
  if (state !== anyState && !/^[A-Z]{2}$/.test(state))
    return `is no state: give an abbreviation of two letters such as TX, or ${anyState} for all others`;
  return seen.has(state) ? 'is given twice' : null;
}

function warningsProblem(value: unknown): string | null {
  if (!Array.isArray(value)) return null;
  for (const text of value as unknown[]) {
    const problem = typeof text === 'string' ? stayLimitProblem(text, true) : null;
    if (problem !== null) return `${cutText(String(text), 64)} ${problem}`;
  }
  return null;
}
