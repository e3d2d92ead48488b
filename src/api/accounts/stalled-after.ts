import { Type } from 'typebox';
import { stayLimitProblem } from '../../filings/detection/stay-limits.ts';
import { isIndexed } from '../../partner/filing-statuses.ts';
import { nullable } from '../shared/schema.ts';
import { cutText } from '../../json/cut-text.ts';

type StalledAfter = Readonly<Record<string, string>>;

// Maximum number of statuses with a limit.
const statusesMax = 20;
const statusPattern = /^[A-Z][A-Z0-9_]{0,63}$/;

const description =
  'How long a filing may stay in a status: an ISO 8601 duration (weeks, days, hours, minutes, seconds) for each, ' +
  'from one second to ten years. A filing that stays longer leads to one `filing.stalled`. Null or {}: no limits.';

const examples = [{ PENDING: 'P10D', UNPAID: 'P2W' }];

/** The limits of an account as they are shown. */
export const stalledAfter = nullable(Type.Record(Type.String(), Type.String()), { description, examples });

/** The limits of an account as they are given; statuses in any case. */
export const stalledAfterInput = Type.Refine(
  nullable(
    Type.Record(Type.String({ maxLength: 64 }), Type.String({ maxLength: 64 }), {
      maxProperties: statusesMax,
    }),
    { description, examples },
  ),
  (value) => stalledAfterProblem(value) === null,
  (value) => stalledAfterProblem(value) ?? '',
);

/** Limits as they are stored: statuses in upper case; null where there are none. Pure. */
export function toStalledAfter(given: StalledAfter | null): StalledAfter | null {
  const entries = Object.entries(given ?? {}).map(([status, after]) => [status.toUpperCase(), after]);
  return entries.length === 0 ? null : (Object.fromEntries(entries) as StalledAfter);
}

// Null for a value that the rest of the schema refuses, too.
function stalledAfterProblem(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const seen = new Set<string>();
  for (const [name, after] of Object.entries(value)) {
    const status = name.toUpperCase();
    const problem =
      statusProblem(status, seen) ?? (typeof after === 'string' ? stayLimitProblem(after) : null);
    if (problem !== null) return `${cutText(status, 64)} ${problem}`;
    seen.add(status);
  }
  return null;
}

function statusProblem(status: string, seen: ReadonlySet<string>): string | null {
  if (!statusPattern.test(status)) return 'is no status: give letters, digits and _, such as PENDING';
  if (seen.has(status)) return 'is given twice';
  if (!isIndexed(status)) return 'cannot have a limit: it is where filings stay for good';
  return null;
}
