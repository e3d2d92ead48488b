import { isUtf8 } from 'node:buffer';
import { createHash } from 'node:crypto';
import { parseFilingStates, type FilingStateRules } from './filing-states.ts';
import {
  faultOfFiling,
  faultOfPage,
  parseFiling,
  parsePage,
  type PartnerFiling,
  type PartnerPage,
} from './filing-schema.ts';
import { AnswerExcess, kindOfStatus, PartnerError } from './partner-error.ts';
import type { PartnerAnswer } from './partner-http.ts';

/**
 * The page in an answer to `GET filings`. Rejects with PartnerError if the answer is not a page, and with
 * AnswerExcess.
 */
export async function toPage(answer: PartnerAnswer): Promise<PartnerPage> {
  expectOk(answer, 'filings');
  return parseOr('filings', answer, parsePage, faultOfPage);
}

/** The filing in an answer to `GET filing`, null for 404. Rejects with PartnerError for anything else. */
export async function toFiling(answer: PartnerAnswer, id: string): Promise<PartnerFiling | null> {
  if (answer.status === 404) return null;
  expectOk(answer, 'filing');
  const filing = parseOr('filing', answer, parseFiling, faultOfFiling);
  if (filing.id !== id) throw new PartnerError('invalid_response', 'GET filing answered with another filing');
  return filing;
}

/** The rules in an answer to `GET filing-states`. Rejects with PartnerError. */
export async function toFilingStates(answer: PartnerAnswer): Promise<readonly FilingStateRules[]> {
  expectOk(answer, 'filing-states');
  return parseOr('filing-states', answer, parseFilingStates, () => 'it must be an array');
}

/**
 * A digest of the address in an answer to `GET me`, or null if it has none. Rejects with PartnerError if the
 * answer is not an account: a proxy may answer in place of the service.
 */
export async function toIdentity(answer: PartnerAnswer): Promise<string | null> {
  expectOk(answer, 'me');
  const { email } = parseOr('me', answer, (text) => {
    const value: unknown = JSON.parse(text());
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null;
  }) as { readonly email?: unknown };
  // Name and state of an account may change; its address identifies it.
  const address = typeof email === 'string' ? email.trim().toLowerCase() : '';
  return address === '' ? null : createHash('sha256').update(address).digest('base64url');
}

function expectOk({ status, retryAfterMs, isRateLimited }: PartnerAnswer, endpoint: string): void {
  const kind = isRateLimited ? 'rate_limited' : kindOfStatus(status);
  if (kind === null) return;
  const hint =
    status === 404 && endpoint === 'filings'
      ? ': check the address (baseUrl), the version segment included'
      : '';
  throw new PartnerError(kind, `GET ${endpoint} answered ${status}${hint}`, { status, retryAfterMs });
}

function parseOr<T>(
  endpoint: string,
  { body, unknownCoding }: PartnerAnswer,
  parse: (text: () => string) => T | null,
  faultOf: (value: unknown) => string = () => 'it must be object',
): T {
  const text = () => new TextDecoder().decode(body);
  const failure = (what: string) =>
    new PartnerError('invalid_response', `GET ${endpoint} answered with ${what}`);
  // Decoded, other bytes would become the character U+FFFD.
  if (!isUtf8(body)) throw failure(nameOfBody(body, unknownCoding));
  let parsed: T | null = null;
  try {
    parsed = parse(text);
  } catch (error) {
    if (error instanceof AnswerExcess) throw error;
    throw failure(nameOfBody(body, unknownCoding));
  }
  if (parsed !== null) return parsed;
  throw failure(`JSON of an unexpected shape: ${faultOf(JSON.parse(text()))}`);
}

// What is known of a body that is not JSON in UTF-8 (RFC 8259 §8.1). The name of a coding may be any text.
function nameOfBody(bytes: Buffer, unknownCoding: string | undefined): string {
  const named = /^[a-z0-9-]{1,16}$/i.exec(unknownCoding ?? '');
  if (named !== null) return `a body that is not JSON, but encoded as ${named[0]}, which was not asked for`;
  return isUtf8(bytes) ? 'a body that is not JSON' : 'a body that is not UTF-8';
}

/** Reads an answer and releases it afterwards. */
export function released<T>(read: (answer: PartnerAnswer) => Promise<T>): typeof read {
  return async (answer) => {
    try {
      return await read(answer);
    } finally {
      answer.release();
    }
  };
}

/** Reads an answer that the caller releases, or releases it now if it cannot be read. */
export function kept<T>(read: (answer: PartnerAnswer) => Promise<T>): typeof read {
  return async (answer) => {
    try {
      return await read(answer);
    } catch (error) {
      answer.release();
      throw error;
    }
  };
}
