import type { EffectiveDate } from './filing-state.ts';
import { toStayLimit, toStayLimits, type StayLimit, type StayLimits } from './stay-limits.ts';

/** An account's settings about due dates, as the operator wrote them. */
export interface DueSettings {
  /**
   * How long after its effective date a filing has to be completed: ISO 8601 durations by state abbreviation
   * in capitals, with `*` for the other states. Null for no due dates.
   */
  readonly due: Readonly<Record<string, string>> | null;
  /** How long before the due date `filing.due` is sent: ISO 8601 durations; null for the default. */
  readonly dueWarnings: readonly string[] | null;
}

/** The rules by which an account's filings have due dates. */
export interface DueRules {
  readonly after: StayLimits;
  readonly warnings: readonly StayLimit[];
}

/** Reads the rules of an account; null if it has none, or they cannot be read. */
export type ReadDueRules = (account: string) => Promise<DueRules | null>;

/** No account has rules. */
export const noDueRules: ReadDueRules = async () => null;

/** The name of the rule for all states without one of their own. */
export const anyState = '*';

/** How long before the due date `filing.due` is sent, unless the account sets its own times. */
export const defaultDueWarnings: readonly string[] = ['P7D', 'P0D'];

/** The rules of an account, or null if it has none. */
export function toDueRules({ due, dueWarnings }: DueSettings): DueRules | null {
  if (due === null) return null;
  const warnings = dueWarnings ?? defaultDueWarnings;
  return { after: toStayLimits(due), warnings: warnings.flatMap((text) => toStayLimit(text) ?? []) };
}

/** Milliseconds from its effective date until a filing is due, or null if no rule says so. */
export function dueAfter(rules: DueRules | null, effective: EffectiveDate | undefined): number | null {
  if (rules === null || effective === undefined) return null;
  return (rules.after.get(effective.stateAbbr) ?? rules.after.get(anyState))?.ms ?? null;
}

/** When a filing with this effective date is due, in milliseconds since the epoch; null for never. */
export function dueDate(rules: DueRules | null, effective: EffectiveDate | undefined): number | null {
  const after = dueAfter(rules, effective);
  return after === null || effective === undefined ? null : effective.at + after;
}

/** The due date as events show it; missing if the account has no rules. */
export function shownDueDate(
  rules: DueRules | null,
  effective: EffectiveDate | undefined,
): { readonly dueAt?: number | null } {
  return rules === null ? {} : { dueAt: dueDate(rules, effective) };
}

/** The last warning before this due date that has passed by `now` (ms), or null if none has. */
export function passedWarning({ warnings }: DueRules, dueAt: number, now: number): StayLimit | null {
  const passed = warnings.filter(({ ms }) => dueAt - ms <= now);
  return passed.toSorted((a, b) => a.ms - b.ms)[0] ?? null;
}
