import type { Readable } from 'node:stream';
import { Type } from 'typebox';
import type { TSchema } from 'typebox';
import { nullable, oneOf, record } from '../../json/schema-parts.ts';
import { abbreviationOf, unknownState } from '../../words/state-names.ts';
import { statePattern } from './patterns.ts';
import { listedMax, problemCodes } from './problem.ts';

export { nullable, oneOf, record, time, timeOrNull } from '../../json/schema-parts.ts';

/** The abbreviation of a state in a request; a name such as Texas is refused, because no filing has it. */
export const stateSchema = (options: { description?: string; examples?: string[] } = {}) =>
  Type.Refine(
    Type.String({ pattern: statePattern, ...options }),
    (text) => abbreviationOf(text) === null,
    unknownState,
  );

/** The query of every list. */
export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      default: 50,
      description: 'Maximum number of items on the page.',
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      maxLength: 1024,
      description: '`nextCursor` of the previous page; none for the first page.',
    }),
  ),
};

/** Default number of items per page. */
export const pageLimit = 50;

/** The response of every list. */
export function listOf<T extends TSchema>(item: T, description: string) {
  return listWith(item, description, {});
}

/** The response of a list; `more` are fields that only this one has. */
export function listWith<T extends TSchema, More extends Record<string, TSchema>>(
  item: T,
  description: string,
  more: More,
) {
  return Type.Object(
    {
      ...more,
      items: Type.Array(item),
      nextCursor: nullable(Type.String(), { description: 'For the next page; null at the end of the list.' }),
    },
    { description, additionalProperties: false },
  );
}

/** The account in a path. */
export const accountParams = {
  account: Type.String({ description: 'Name of the account.', examples: ['default'] }),
};

/** Errors as RFC 9457 problem details, with a stable `code` to branch on. */
export const problemSchema = record(
  {
    type: Type.String({
      format: 'uri-reference',
      description: 'Where the code is explained, relative to the address of the request.',
      examples: ['/problems/invalid_request'],
    }),
    title: Type.String(),
    status: Type.Integer(),
    code: oneOf(Object.keys(problemCodes), { description: 'Stable; branch on this.' }),
    detail: Type.String({ description: 'What is wrong and what to do.' }),
    errors: Type.Optional(
      Type.Array(
        record({
          path: Type.String({
            description: 'The field, with dots: `eventTypes.0`; empty for the body itself.',
          }),
          message: Type.String(),
        }),
        {
          maxItems: listedMax,
          description: 'The first wrong values of the request; `detail` says whether there are more.',
        },
      ),
    ),
  },
  { $id: 'Problem' },
);

const statusTexts = {
  400: 'The body is not JSON.',
  401: 'No token, or one that is not valid.',
  403: 'The token may only read.',
  404: 'There is no such resource, or not for this token.',
  409: 'The account would store more than it may; for `accept`: nothing of it is held back; for `seen`: the filing is not REJECTED; for `test` and `verify`: the endpoint has yet to be verified, or need not be.',
  413: 'The body is larger than 256 KiB.',
  415: 'The body is not declared as JSON.',
  422: 'Values are not valid; `errors` lists the first ten.',
  429: 'Too many at once, or too often; `Retry-After` says how long to wait.',
  503: 'Redis does not answer or refuses writes, or it was emptied and the operator has not decided yet.',
  default: 'Any other error.',
} as const;

/** A status that the document describes. */
export type DocumentedStatus = keyof typeof statusTexts;

/** The error responses with these statuses, as the document describes them. */
export function problems(statuses: readonly DocumentedStatus[]): Record<number, TSchema> {
  return Object.fromEntries(statuses.map((status) => [status, problemAnswer(status)]));
}

/** The error responses of a route without a token. */
export function openProblems(...statuses: readonly DocumentedStatus[]): Record<number, TSchema> {
  return problems([429, 'default', ...statuses]);
}

function problemAnswer(status: DocumentedStatus) {
  const content = { 'application/problem+json': { schema: { $ref: 'Problem#' } } };
  const headers = status === 429 || status === 503 ? { headers: { 'retry-after': retryAfter } } : {};
  return { description: statusTexts[status], content, ...headers };
}

const retryAfter = { type: 'string', description: 'Seconds to wait, where waiting helps.' };

/** The response 409 of a route that has one. */
export const conflict = problemAnswer(409);

/**
 * A response whose body is the shared schema with this id (see `addOpenApi`), with the headers that it may
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

/**
 * The 200 of a list that clients may also take as a table: a page as JSON, and the whole list as CSV with a
 * line for each of `items`.
 */
export function pageOrTable<T extends TSchema>(page: T, items: string) {
  const table = Type.String({ description: `A header line and a line for each ${items}.` });
  return {
    description: 'A page as JSON, or the whole list as CSV.',
    content: { 'application/json': { schema: page }, 'text/csv': { schema: Type.Unsafe<Readable>(table) } },
  };
}

/** The id of a filing in a query. */
export const filingIdIn = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 256, description }));
