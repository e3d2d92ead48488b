import type { Problem } from '../errors.ts';

/** What `GET /partner/filings` was asked for, defaults filled in. */
interface ListQuery {
  readonly offset: number;
  readonly limit: number;
  readonly status: string | undefined;
  readonly q: string | undefined;
}

/** A query that was understood, or everything that is wrong with it. */
export type ParsedListQuery =
  | { readonly ok: true; readonly query: ListQuery }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** The page size without `limit`, and the bounds of it (partner specification, Limits). */
const limitBounds = { min: 1, max: 100, fallback: 20 };
const offsetBounds = { min: 0, max: Number.MAX_SAFE_INTEGER, fallback: 0 };

/**
 * Reads the query parameters of the filing list; a parameter given twice is an error, an unknown one is
 * ignored. `statuses` are those that may be asked for, undefined lets any be.
 */
export function parseListQuery(
  raw: Readonly<Record<string, unknown>>,
  statuses?: readonly string[],
): ParsedListQuery {
  const offset = parseWhole(raw['offset'], offsetBounds);
  const limit = parseWhole(raw['limit'], limitBounds);
  const status = parseStatus(raw['status'], statuses);
  const q = parseText(raw['q']);
  const fields = { offset, limit, status, q };
  const problems = Object.entries(fields).flatMap(([field, parsed]) =>
    parsed.ok ? [] : [{ field, message: parsed.message }],
  );
  if (!offset.ok || !limit.ok || !status.ok || !q.ok) return { ok: false, problems };
  return { ok: true, query: { offset: offset.value, limit: limit.value, status: status.value, q: q.value } };
}

type Parsed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly message: string };

function parseWhole(raw: unknown, { min, max, fallback }: typeof limitBounds): Parsed<number> {
  if (raw === undefined) return { ok: true, value: fallback };
  const value = typeof raw === 'string' && /^\d{1,16}$/.test(raw) ? Number(raw) : Number.NaN;
  if (value >= min && value <= max) return { ok: true, value };
  return { ok: false, message: `must be a whole number from ${min} to ${max}` };
}

function parseStatus(raw: unknown, statuses: readonly string[] | undefined): Parsed<string | undefined> {
  if (statuses === undefined || raw === undefined) return parseText(raw);
  const known = statuses.find((status) => status === raw);
  if (known !== undefined) return { ok: true, value: known };
  return { ok: false, message: `must be one of ${statuses.join(', ')}` };
}

function parseText(raw: unknown): Parsed<string | undefined> {
  if (raw === undefined || typeof raw === 'string') return { ok: true, value: raw };
  return { ok: false, message: 'must be given once' };
}
