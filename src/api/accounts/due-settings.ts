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
  due: s.checked(
    s.nullable(Type.Record(Type.String({ maxLength: 64 }), duration, { maxProperties: statesMax }), dueText),
    (rules) => problemByName(rules, stateProblem),
  ),
  dueWarnings: s.checked(
    s.nullable(Type.Array(duration, { maxItems: warningsMax }), warningsText),
    warningsProblem,
  ),
};

/** The settings as responses show them. */
export const dueShown = {
  due: s.nullable(Type.Record(Type.String(), Type.String()), dueText),
  dueWarnings: Type.Array(Type.String(), warningsText),
};

/** The warnings of an account, as they are shown. */
export function shownWarnings(stored: readonly string[] | null): string[] {
  return [...(stored ?? defaultDueWarnings)];
}

function stateProblem(state: string, after: unknown): string | null {
  if (state !== anyState && !/^[A-Z]{2}$/.test(state))
    return `is no state: give an abbreviation of two letters such as TX, or ${anyState} for all others`;
  return typeof after === 'string' ? stayLimitProblem(after) : null;
}

/**
 * The problem of rules by a name in any case, which `problemOf` gets in capitals; null also for a value that
 * the rest of the schema refuses.
 */
export function problemByName(
  rules: unknown,
  problemOf: (name: string, rule: unknown) => string | null,
): string | null {
  if (typeof rules !== 'object' || rules === null || Array.isArray(rules)) return null;
  const seen = new Set<string>();
  for (const [given, rule] of Object.entries(rules)) {
    const name = given.toUpperCase();
    const problem = seen.has(name) ? 'is given twice' : problemOf(name, rule);
    if (problem !== null) return `${cutText(name, 64)} ${problem}`;
    seen.add(name);
  }
  return null;
}

/** Such rules as they are stored: names in capitals, no rules at all as null. */
export function storedByName<T>(rules: Readonly<Record<string, T>> | null): Record<string, T> | null {
  const stored = Object.entries(rules ?? {}).map(([name, rule]) => [name.toUpperCase(), rule] as const);
  return stored.length === 0 ? null : Object.fromEntries(stored);
}

// Null for a value that the rest of the schema refuses, too.
function warningsProblem(value: unknown): string | null {
  if (!Array.isArray(value)) return null;
  for (const text of value as unknown[]) {
    const problem = typeof text === 'string' ? stayLimitProblem(text, true) : null;
    if (problem !== null) return `${cutText(String(text), 64)} ${problem}`;
  }
  return null;
}
