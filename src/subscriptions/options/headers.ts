import { Type } from 'typebox';
import {
  checkCustomHeaders,
  customHeadersMax,
  headerNameLengthMax,
  headerNamePattern,
  headerValueLengthMax,
  headerValuePattern,
} from '../../egress/header-policy.ts';
import type { FieldError } from '../../json/validation-problems.ts';
import type { Subscription } from '../subscription.ts';
import { given, type Option } from './option.ts';

/** The text that responses show instead of a header's value: values are often credentials. */
export const maskedHeader = '***';

// Custom headers in requests.
const headersSchema = Type.Unsafe<Record<string, string>>({
  type: 'object',
  additionalProperties: Type.String({ maxLength: headerValueLengthMax, pattern: headerValuePattern }),
  propertyNames: { maxLength: headerNameLengthMax, pattern: headerNamePattern },
  maxProperties: customHeadersMax,
  description:
    'Sent with every callback. Framing, routing, identity and signature headers are refused; all together have at most 8192 characters.',
  examples: [{ 'x-team': 'filings' }],
});

// Custom headers in responses: their names, with each value hidden.
const headersShown = Type.Record(Type.String(), Type.String(), {
  description: `Names of the custom headers; every value is shown as \`${maskedHeader}\`. PATCH replaces the whole set.`,
  examples: [{ 'x-team': maskedHeader }],
});

// Maximum number of headers that are judged one by one.
const namesMax = 100;

// Custom headers in a body that the schema may have refused; null if they are no map of texts.
function textsOf(value: unknown): Readonly<Record<string, string>> | null {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
  const texts = Object.values(value);
  const isMap = texts.length <= namesMax && texts.every((text) => typeof text === 'string');
  return isMap ? (value as Record<string, string>) : null;
}

// The errors of custom headers in a body, one for each header; pure. No message repeats a value. They replace
// the schema's errors (`known`) if the headers are a map of texts.
function headerErrors(
  { headers: value }: { readonly headers?: unknown },
  known: readonly FieldError[],
): FieldError[] {
  const headers = textsOf(value);
  if (headers === null) return known.filter(({ path }) => isOfHeaders(path));
  const check = checkCustomHeaders(headers);
  const problems = check.ok ? [] : check.problems;
  const masked = Object.keys(headers)
    .filter((name) => headers[name] === maskedHeader && !problems.some((problem) => problem.name === name))
    .map((name) => ({
      name,
      message: `is ${maskedHeader}, which only hides a value; give the value itself`,
    }));
  return [...problems, ...masked].map(({ name, message }) => ({
    path: name === null ? 'headers' : `headers.${name}`,
    message,
  }));
}

/** Whether the path of an error leads to the custom headers. */
export function isOfHeaders(path: string): boolean {
  return path === 'headers' || path.startsWith('headers.');
}

/** The option `headers`. */
export const headers = {
  input: { headers: Type.Optional(headersSchema) },
  shown: { headers: headersShown },
  earlyErrors: headerErrors,
  stored: (body: Partial<Pick<Subscription, 'headers'>>) => given(body, 'headers'),
  show: ({ headers: set }: Pick<Subscription, 'headers'>) => ({
    headers: Object.fromEntries(Object.keys(set).map((name) => [name, maskedHeader])),
  }),
} satisfies Option;
