import { Type } from 'typebox';
import type { Static, TSchema } from 'typebox';
import { problemCodes } from './problem.ts';

/** A schema that also takes null, as one type list: its errors then speak of one thing. */
export function nullable<T extends TSchema>(schema: T, options: Record<string, unknown> = {}) {
  const { type } = schema as unknown as { type: string };
  return Type.Unsafe<Static<T> | null>({ ...schema, type: [type, 'null'], ...options });
}

/** One of some words. */
export function oneOf<const T extends readonly string[]>(words: T, options: Record<string, unknown> = {}) {
  return Type.Unsafe<T[number]>({ type: 'string', enum: [...words], ...options });
}

/** A time of an answer: ISO 8601 in UTC with milliseconds. */
export const time = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-11-21T10:00:03.120Z'] });

/** A time of an answer, null for never or none. */
export const timeOrNull = (description: string) => nullable(time(description));

/** What every list takes. */
export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 100, default: 50, description: 'Items per page at most.' }),
  ),
  cursor: Type.Optional(
    Type.String({
      maxLength: 1024,
      description: '`nextCursor` of the page before; none for the first page.',
    }),
  ),
};

/** Items per page when the request does not say. */
export const pageLimit = 50;

/** What every list answers. */
export function listOf<T extends TSchema>(item: T, description: string) {
  return Type.Object(
    {
      items: Type.Array(item),
      nextCursor: nullable(Type.String(), { description: 'For the next page; null at the end of the list.' }),
    },
    { description, additionalProperties: false },
  );
}

/** An object that has these fields and no others. */
export function record<T extends Record<string, TSchema>>(fields: T, options: Record<string, unknown> = {}) {
  return Type.Object(fields, { ...options, additionalProperties: false });
}

/** The account in a path. */
export const accountParams = {
  account: Type.String({ description: 'Name of the account.', examples: ['default'] }),
};

/** Errors as RFC 9457 problem details, with a stable `code` to branch on. */
export const problemSchema = record(
  {
    type: Type.String({ description: 'URN of the code.' }),
    title: Type.String(),
    status: Type.Integer(),
    code: oneOf(Object.keys(problemCodes), { description: 'Stable; branch on this.' }),
    detail: Type.String({ description: 'What is wrong here and what to do.' }),
    errors: Type.Optional(
      Type.Array(
        record({
          path: Type.String({
            description: 'The field, with dots: `eventTypes.0`; empty for the body itself.',
          }),
          message: Type.String(),
        }),
        { description: 'Every wrong value of the request.' },
      ),
    ),
  },
  { $id: 'Problem' },
);

const statusTexts = {
  400: 'The body is not JSON.',
  401: 'No token, or one that is not valid.',
  403: 'The token may only read.',
  404: 'No such thing, or not for this token.',
  409: 'Nothing of the account is held back.',
  413: 'The body is larger than 256 KiB.',
  415: 'The body is not declared as JSON.',
  422: 'Values are not valid; `errors` lists all of them.',
  429: 'Too many at once, or too often; `Retry-After` says for how long to wait.',
  503: 'Redis does not answer, or it was found emptied and the operator has not decided yet.',
  default: 'Any other error.',
} as const;

type DocumentedStatus = keyof typeof statusTexts;

/** The error answers of a route: these, and those that all routes have. */
export function problems(...statuses: readonly DocumentedStatus[]): Record<number, TSchema> {
  const all: readonly DocumentedStatus[] = [401, 404, 429, 503, 'default', ...statuses];
  const content = { 'application/problem+json': { schema: { $ref: 'Problem#' } } };
  return Object.fromEntries(all.map((status) => [status, { description: statusTexts[status], content }]));
}

/** The error answers that a route with a body adds. */
export const bodyProblems = [400, 403, 413, 415, 422] as const;

/**
 * An answer whose body is the shared schema with this id (see `addOpenApi`), and the headers that it may
 * have.
 */
export function answer(id: string, description: string, headers: Readonly<Record<string, string>> = {}) {
  const described = Object.entries(headers).map(([name, text]) => [
    name,
    { type: 'string', description: text },
  ]);
  return {
    description,
    content: { 'application/json': { schema: { $ref: `${id}#` } } },
    ...(described.length === 0 ? {} : { headers: Object.fromEntries(described) as object }),
  };
}
