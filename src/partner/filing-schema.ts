import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { parseExactly } from '../json/parse-exactly.ts';

/** The statuses that the partner specification names ("States and transitions"). Others are passed on verbatim. */
export const knownStatuses = ['UNPAID', 'PAID', 'PENDING', 'COMPLETED', 'REJECTED'] as const;

/** One filing as read from the partner service: the fields that detection needs, beside the whole document. */
export interface PartnerFiling {
  readonly id: string;
  readonly status: string;
  /** Verbatim; null where the service sent null or nothing. */
  readonly completedAt: string | null;
  /** Verbatim; null where the service sent null or nothing. */
  readonly rejectionReason: string | null;
  /** Everything the service returned, unknown fields included and numbers as they were written. Computed when asked for. */
  readonly document: () => Readonly<Record<string, unknown>>;
}

/** One page of the filing list. */
export interface PartnerPage {
  readonly filings: readonly PartnerFiling[];
  /** Records on the page that are not filings (wrong types, impossible ids); they are counted, the others go on. */
  readonly quarantined: number;
  /** Length of the page as served, quarantined records included: paging advances by it. */
  readonly length: number;
  /** The service's count of matching filings; null when it sent none that can be read as a count. */
  readonly total: number | null;
  /** The limit the service says it applied; null when it did not say. */
  readonly limit: number | null;
}

const nullableText = Type.Optional(Type.Union([Type.String({ maxLength: 65_536 }), Type.Null()]));

// The id becomes a path segment and a key's field, the status a metric's label and part of an index entry.
const filingSchema = Compile(
  Type.Object({
    id: Type.String({ minLength: 1, maxLength: 256 }),
    status: Type.String({ minLength: 1, maxLength: 64, pattern: '^[^\\u0000-\\u001f\\u007f]+$' }),
    completedAt: nullableText,
    rejectionReason: nullableText,
  }),
);

const pageSchema = Compile(Type.Object({ items: Type.Array(Type.Unknown(), { maxItems: 1000 }) }));

/**
 * The filing in an answer, or null when it is none. Dot segments cannot be asked for by path, so they are no ids.
 * Throws SyntaxError when the text is not JSON.
 */
export function parseFiling(text: string): PartnerFiling | null {
  return toFiling(JSON.parse(text), () => parseExactly(text) as Record<string, unknown>);
}

/**
 * The page in an answer (partner specification, `GET /partner/filings`), or null when it is none. A page on which not
 * one of several records is a filing is no page either: then the service's format has changed. Throws SyntaxError
 * when the text is not JSON.
 */
export function parsePage(text: string): PartnerPage | null {
  const value: unknown = JSON.parse(text);
  if (!pageSchema.Check(value)) return null;
  let exact: { items: Record<string, unknown>[] } | undefined;
  const document = (position: number) => () => {
    exact ??= parseExactly(text) as { items: Record<string, unknown>[] };
    return exact.items[position] ?? {};
  };
  const filings = value.items
    .map((item, position) => toFiling(item, document(position)))
    .filter((f) => f !== null);
  if (value.items.length > 0 && filings.length === 0) return null;
  const { total, limit } = value as { total?: unknown; limit?: unknown };
  return {
    filings,
    quarantined: value.items.length - filings.length,
    length: value.items.length,
    total: parseCount(total),
    limit: parseCount(limit),
  };
}

function toFiling(value: unknown, document: PartnerFiling['document']): PartnerFiling | null {
  if (!filingSchema.Check(value) || value.id === '.' || value.id === '..') return null;
  return {
    id: value.id,
    status: value.status,
    completedAt: value.completedAt ?? null,
    rejectionReason: value.rejectionReason ?? null,
    document,
  };
}

function parseCount(value: unknown): number | null {
  const count = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : null;
}
