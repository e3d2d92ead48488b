import { parse, type Duration } from 'tinyduration';
import { orNull } from '../../json/or-null.ts';
import { seenStatus } from './triage.ts';

/** How long a filing is expected to stay in a status at most. */
export interface StayLimit {
  readonly ms: number;
  /** The same as the operator wrote it, an ISO 8601 duration. */
  readonly after: string;
  /** True if a filing that a person has seen may stay longer; missing otherwise. */
  readonly unlessSeen?: true;
}

/** A limit for a status as it is stored. */
type StayRule = string | { readonly after: string; readonly unless?: 'seen' };

/** Limits by status. */
export type StayLimits = ReadonlyMap<string, StayLimit>;

const unitMs = { weeks: 604_800_000, days: 86_400_000, hours: 3_600_000, minutes: 60_000, seconds: 1_000 };

const leastMs = unitMs.seconds;
const mostMs = 3_650 * unitMs.days;

/** What is wrong with a limit, for the operator; null for nothing. `mayBeZero` allows P0D. */
export function stayLimitProblem(text: string, mayBeZero: boolean = false): string | null {
  const duration = orNull(() => parse(text));
  if (duration === null) return 'must be an ISO 8601 duration such as P10D, PT36H or P2W';
  if (duration.years !== undefined || duration.months !== undefined)
    return 'must be in weeks, days, hours, minutes and seconds; years and months differ in length';
  const ms = lengthOf(duration);
  const isZero = ms === 0 && mayBeZero && duration.negative !== true;
  if (isZero || (ms >= leastMs && ms <= mostMs)) return null;
  return `must be ${mayBeZero ? 'P0D, or ' : ''}from one second (PT1S) to ten years (P3650D)`;
}

/** What is wrong with a limit for a status, for the operator; null for nothing. */
export function stayRuleProblem(status: string, rule: StayRule): string | null {
  if (typeof rule === 'string') return stayLimitProblem(rule);
  return rule.unless !== undefined && status !== seenStatus
    ? `cannot depend on what was seen: only ${seenStatus} filings are marked as seen`
    : stayLimitProblem(rule.after);
}

/** The limits of an account's `stalledAfter`; those that cannot be read are left out. */
export function toStayLimits(stalledAfter: Readonly<Record<string, StayRule>> | null): StayLimits {
  return new Map(
    Object.entries(stalledAfter ?? {}).flatMap(([status, rule]): [string, StayLimit][] => {
      const limit = toStayLimit(typeof rule === 'string' ? rule : rule.after);
      if (limit === null) return [];
      return [[status, typeof rule === 'object' && rule.unless ? { ...limit, unlessSeen: true } : limit]];
    }),
  );
}

/** A limit as the operator wrote it, or null if it cannot be read. */
export function toStayLimit(after: string): StayLimit | null {
  const duration = orNull(() => parse(after));
  return duration === null ? null : { ms: lengthOf(duration), after };
}

// Milliseconds; 0 for a negative duration.
function lengthOf(duration: Duration): number {
  const units = Object.entries(unitMs) as [keyof typeof unitMs, number][];
  const ms = units.reduce((sum, [unit, each]) => sum + (duration[unit] ?? 0) * each, 0);
  return duration.negative === true ? 0 : Math.round(ms);
}
