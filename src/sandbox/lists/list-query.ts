import { SandboxError, type Problem } from '../errors.ts';

/** The query of `GET /partner/filings`, defaults filled in. */
interface ListQuery {
  readonly offset: number;
  readonly limit: number;
  readonly status: string | undefined;
  readonly q: string | undefined;
}

/** The page size without `limit`, and its bounds (docs/partner.md#lists). */
const limitBounds = { min: 1, max: 100, fallback: 20 };
const offsetBounds = { min: 0, max: Number.MAX_SAFE_INTEGER, fallback: 0 };

/**
 * Reads the query parameters of the filing list; an unknown one is ignored. `statuses` are the permitted
 * ones; undefined permits any. Throws 400 with every problem, a parameter given twice among them.
 */
export function readListQuery(
  raw: Readonly<Record<string, unknown>>,
  statuses?: readonly string[],
): ListQuery {
  const problems: Problem[] = [];
  const whole = (field: string, { min, max, fallback }: typeof limitBounds): number => {
    const text = raw[field];
    if (text === undefined) return fallback;
    const value = typeof text === 'string' && /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
    const isWithin = value >= min && value <= max;
    if (!isWithin) problems.push({ field, message: `must be a whole number from ${min} to ${max}` });
    return value;
  };
  const text = (field: string, permitted?: readonly string[]): string | undefined => {
    const value = raw[field];
    if (value === undefined) return undefined;
    if (typeof value === 'string' && (permitted?.includes(value) ?? true)) return value;
    const message = permitted ? `must be one of ${permitted.join(', ')}` : 'must be given once';
    problems.push({ field, message });
    return undefined;
  };
  const query = {
    offset: whole('offset', offsetBounds),
    limit: whole('limit', limitBounds),
    status: text('status', statuses),
    q: text('q'),
  };
  if (problems.length === 0) return query;
  throw new SandboxError('INVALID_REQUEST', 'the request is not valid', problems);
}
