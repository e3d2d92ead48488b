import { CallbackError } from '../errors.ts';

/** Headers of a request: those of fetch, or an object by name, in any case. */
export type HeadersLike =
  { get(name: string): string | null } | Readonly<Record<string, string | readonly string[] | undefined>>;

/** The headers of Standard Webhooks, not verified yet. */
export interface SignatureHeaders {
  /** Name of the event, the same on every attempt. */
  readonly id: string;
  /** Unix seconds of this attempt, as they were signed. */
  readonly timestamp: string;
  /** Entries such as `v1,…`. */
  readonly signatures: readonly string[];
}

// Standard Webhooks: an id has no dot, which would make the signed content ambiguous.
const idPattern = /^[\w-]{1,128}$/;
const timestampPattern = /^\d{1,12}$/;

/** Reads the three headers; throws CallbackError where one is missing or has another form. */
export function readSignatureHeaders(headers: HeadersLike): SignatureHeaders {
  const id = required(headers, 'webhook-id');
  const timestamp = required(headers, 'webhook-timestamp');
  const signatures = required(headers, 'webhook-signature').split(' ');
  if (!idPattern.test(id)) throw malformed('webhook-id', 'letters, digits, - and _');
  if (!timestampPattern.test(timestamp)) throw malformed('webhook-timestamp', 'Unix seconds');
  return { id, timestamp, signatures };
}

/** One header, or null; several of the same name are joined as HTTP does. */
export function readHeader(headers: HeadersLike, name: string): string | null {
  if (typeof headers.get === 'function') return headers.get(name);
  const values = Object.entries(headers as Readonly<Record<string, string | readonly string[] | undefined>>)
    .filter(([key, value]) => value !== undefined && key.toLowerCase() === name)
    .flatMap(([, value]) => value);
  return values.length === 0 ? null : values.join(', ');
}

function required(headers: HeadersLike, name: string): string {
  const value = readHeader(headers, name);
  if (value !== null && value !== '') return value;
  throw new CallbackError(
    'missing_header',
    `The header ${name} is missing: this is no callback of filing-webhooks, or something in front of the receiver removes the header.`,
  );
}

function malformed(name: string, expected: string): CallbackError {
  return new CallbackError('malformed_header', `The header ${name} has another form than ${expected}.`);
}
