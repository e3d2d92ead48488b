import { hash } from 'node:crypto';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { epochMsOf } from '../json/iso-time.ts';
import { isNestedDeeper, weightOf } from '../json/nesting.ts';
import { parseExactly } from '../json/parse-exactly.ts';
import { fieldErrors } from '../json/validation-problems.ts';
import { AnswerExcess } from './partner-error.ts';

/** One filing as read from the partner service: the fields that detection needs, and the whole document. */
export interface PartnerFiling {
  readonly id: string;
  readonly status: string;
  /** Verbatim; null if the service sent null or nothing. */
  readonly completedAt: string | null;
  /** Verbatim; null if the service sent null or nothing. */
  readonly rejectionReason: string | null;
  /** Verbatim; null if the service sent anything but a short text (docs/partner.md#timestamps). */
  readonly createdAt: string | null;
  /**
   * Everything the service returned, unknown fields included. Numbers are kept as written, or as doubles if
   * something on the page is nested too deeply for the exact parser or the filing has `heavyBytes`. Parsed on
   * demand.
   */
  readonly document: () => Readonly<Record<string, unknown>>;
  /** Bytes of a filing with more than 50 000 values; no event carries it. */
  readonly heavyBytes?: number;
}

/** Number of filings on a full page: the highest limit that the service accepts (docs/partner.md#lists). */
export const pageSize = 100;

/** One page of the filing list. */
export interface PartnerPage {
  readonly filings: readonly PartnerFiling[];
  /**
   * Records on the page that are not filings (wrong types, impossible ids), each by its id or, without one,
   * by a digest of the record; the first thousand of them. The other records are processed.
   */
  readonly quarantined: readonly string[];
  /** Number of records on the page that are not filings. */
  readonly unreadable: number;
  /** Length of the page as served, quarantined records included: paging advances by it. */
  readonly length: number;
  /** The service's count of matching filings, or null if it sent no valid count. */
  readonly total: number | null;
  /** The limit that the service states it applied, or null if it states none. */
  readonly limit: number | null;
}

/** Maximum number of records on a page: a service that ignores `limit` may send more than were requested. */
export const recordsMax = 10_000;

// Maximum number of values of a filing that an event may carry: real ones have less than a hundred.
const valuesMax = 50_000;

const idCharactersMax = 256;
const timestampMax = 256;

// Maximum levels of nesting; real filings have at most four. Deeper ones could not be written into an event,
// because JSON.stringify and most receivers' parsers recurse.
const nestingMax = 50;

// The type of a timestamp is not specified (docs/partner.md#timestamps), so a number is accepted too.
const filingSchema = Compile(
  Type.Object({
    // The id becomes a path segment and a key's field, the status a metric's label and part of an index
    // entry.
    id: Type.String({ minLength: 1, maxLength: idCharactersMax }),
    status: Type.String({ minLength: 1, maxLength: 64, pattern: '^[^\\u0000-\\u001f\\u007f]+$' }),
    completedAt: Type.Optional(
      Type.Union([Type.String({ maxLength: timestampMax }), Type.Number(), Type.Null()]),
    ),
    rejectionReason: Type.Optional(Type.Union([Type.String({ maxLength: 65_536 }), Type.Null()])),
  }),
);

// Maximum number of unreadable records on a page without a filing. More of them mean that the format has
// changed, or that another service answers.
const unreadableMax = 9;

// Maximum number of unreadable records of a page that are named; the others are only counted.
const quarantinedMax = 1_000;

/** The records of a page or of its frame, or null if the value is neither. */
function itemsOf(value: unknown): readonly unknown[] | null {
  const { items, total, offset } = Object(value) as Record<string, unknown>;
  if (Array.isArray(items)) return items;
  // Services in Go write an empty list so, and proxies write it for none.
  const count = parseCount(total);
  return items === null && count !== null && (parseCount(offset) ?? 0) >= count ? [] : null;
}

/** Why an answer of JSON is no page, in words that name the member; pure. */
export function faultOfPage(value: unknown): string {
  const { items } = Object(value) as Record<string, unknown>;
  const [record] = itemsOf(value) ?? [];
  if (record !== undefined) return `of its first record ${faultOfFiling(record)}`;
  return items == null ? 'items is required' : 'items must be array';
}

/** Why a record is no filing, in words that name the member; pure. */
export function faultOfFiling(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'it must be object';
  const present = Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));
  const [error] = fieldErrors(filingSchema.Errors(present));
  if (error !== undefined) return `${error.path} ${error.message}`;
  return isNestedDeeper(value, nestingMax) ? 'it is nested too deeply' : 'id or status is no text to ask for';
}

/**
 * The filing in an answer, or null when it is not one. An id is refused if it is a dot segment (a path cannot
 * carry it) or has lone surrogates (they cannot be stored) or U+FFFD (it may stand for other bytes). So is a
 * record nested more than 50 levels deep. Throws SyntaxError when the text is not JSON. The text is decoded
 * again when the document is requested, so filings waiting to be compared hold neither text nor documents.
 */
export function parseFiling(text: () => string): PartnerFiling | null {
  return toFiling(JSON.parse(text()), () => parseExactly(text()) as Record<string, unknown>);
}

/**
 * The page in an answer (docs/partner.md#lists), or null when it is not one. Ten or more records without a
 * filing among them are not a page. Throws SyntaxError when the text is not JSON, and AnswerExcess when there
 * are more than 10 000 records. The text is decoded again as in `parseFiling`.
 */
export function parsePage(text: () => string): PartnerPage | null {
  const value: unknown = JSON.parse(text());
  const items = itemsOf(value);
  if (items === null) return null;
  if (items.length > recordsMax) throw new AnswerExcess('records', recordsMax);
  let exact: readonly unknown[] | undefined;
  const document = (position: number) => () => {
    exact ??= itemsExactly(text()) ?? (JSON.parse(text()) as { items: unknown[] }).items;
    return exact[position] as Record<string, unknown>;
  };
  const filings: PartnerFiling[] = [];
  const quarantined: string[] = [];
  let unreadable = 0;
  items.forEach((item, position) => {
    const filing = toFiling(item, document(position));
    if (filing !== null) return void filings.push(filing);
    unreadable += 1;
    if (unreadable <= quarantinedMax) quarantined.push(nameOf(item));
  });
  if (filings.length === 0 && unreadable > unreadableMax) return null;
  const { total, limit } = value as { total?: unknown; limit?: unknown };
  const length = filings.length + unreadable;
  return { filings, quarantined, unreadable, length, total: parseCount(total), limit: parseCount(limit) };
}

/** Null if something on the page is nested too deeply for the recursive parser. */
function itemsExactly(text: string): readonly unknown[] | null {
  try {
    return (parseExactly(text) as { items: unknown[] }).items;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

/** The filing that a parsed record is, or null when it is not one; see `parseFiling`. */
function toFiling(value: unknown, document: PartnerFiling['document']): PartnerFiling | null {
  if (!filingSchema.Check(value) || !isAddressable(value.id) || !value.status.isWellFormed()) return null;
  const weight = weightOf(value, nestingMax);
  if (weight === Infinity) return null;
  const { createdAt } = value as { createdAt?: unknown };
  return {
    id: value.id,
    status: value.status,
    completedAt: value.completedAt == null ? null : String(value.completedAt),
    rejectionReason: value.rejectionReason ?? null,
    createdAt: typeof createdAt === 'string' && createdAt.length <= timestampMax ? createdAt : null,
    ...(weight <= valuesMax
      ? { document }
      : { document: () => value, heavyBytes: Buffer.byteLength(JSON.stringify(value)) }),
  };
}

// The character that stands for bytes that are not UTF-8. The service would know no filing by an id with it.
const undecodable = '\ufffd';

function isAddressable(id: string): boolean {
  return id !== '.' && id !== '..' && id.isWellFormed() && !id.includes(undecodable);
}

function nameOf(record: unknown): string {
  const id = (record as { id?: unknown } | null | undefined)?.id;
  if (typeof id === 'string' && id !== '' && id.length <= idCharactersMax) return id;
  const text = isNestedDeeper(record, nestingMax) ? 'nested too deeply' : JSON.stringify(record);
  return hash('sha256', text, 'base64url');
}

function parseCount(value: unknown): number | null {
  const count = typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : value;
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : null;
}

/**
 * When a filing was created according to itself or its document (docs/partner.md#timestamps), in
 * milliseconds; NaN if it gives no time.
 */
export function createdAtOf(said: { readonly createdAt?: unknown } | null): number {
  const createdAt = said?.createdAt;
  return typeof createdAt === 'string' ? epochMsOf(createdAt) : Number.NaN;
}
