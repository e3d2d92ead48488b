import type { Readable } from 'node:stream';
import type { FastifySchema, RouteShorthandOptions } from 'fastify';
import { Type } from 'typebox';
import type { Static, TObject, TSchema } from 'typebox';
import { instantMs } from '../../json/instant.ts';
import { isoOrNull } from '../../json/iso-time.ts';
import { oneOf, record, stringOrNull } from '../../json/schema-parts.ts';
import { pageLimit } from './paging.ts';
import { statePattern, unknownState } from './patterns.ts';
import { invalidValue, listedMax, problemCodes } from './problem.ts';

export * from '../../json/schema-parts.ts';

/** The abbreviation of a state in a request; a name such as Texas is refused, because no filing has it. */
export const stateSchema = (options: { description?: string; examples?: string[] } = {}) =>
  Type.Refine(
    Type.String({ pattern: statePattern, ...options }),
    (text) => !/^[a-z]{4,}$/i.test(text),
    unknownState,
  );

/** Rules for the requests of an operation, which the document does not show. */
type RequestRules = Pick<RouteShorthandOptions, (typeof ruleNames)[number]>;

const ruleNames = ['attachValidation', 'bodyLimit', 'config', 'exposeHeadRoute', 'handlerTimeout'] as const;

/** The options of a route from all that is said of its operation: rules for its requests, and its schema. */
export function operation<const T extends RequestRules & FastifySchema>(said: T) {
  const isRule = ([name]: readonly [string, unknown]) => ruleNames.some((rule) => rule === name);
  const entries = Object.entries(said);
  const schema = Object.fromEntries(entries.filter((entry) => !isRule(entry)));
  return { ...Object.fromEntries(entries.filter(isRule)), schema } as Pick<
    T,
    keyof T & keyof RequestRules
  > & {
    readonly schema: Omit<T, keyof RequestRules>;
  };
}

/** The query of every list. */
export const pageQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      default: pageLimit,
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

/** An array of what this schema describes; only the document has the schema, types do not. */
export function arrayOf(
  schema: TSchema,
  options: { readonly description?: string; readonly maxItems?: number } = {},
) {
  return Type.Array(Type.Unsafe<unknown>(schema), options);
}

/** The response of a list. */
export function listOf(schema: TSchema, description: string) {
  return listWith(schema, description, {});
}

/** The response of a list; `more` are fields that only this one has. */
export function listWith<More extends Record<string, TSchema>>(
  schema: TSchema,
  description: string,
  more: More,
) {
  const nextCursor = stringOrNull('For the next page; null at the end of the list.');
  return record({ ...more, items: arrayOf(schema), nextCursor }, { description });
}

/** The account in a path. */
export const accountParams = {
  account: Type.String({ description: 'Name of the account.', examples: ['default'] }),
};

/** Path of an account, or of all of a kind in it. */
export const inAccount = Type.Object(accountParams);

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
  403: 'The token lacks the right for it.',
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

/** A response with this body, and the headers that it may have. */
export function answer(schema: TSchema, description: string, headers: Readonly<Record<string, string>> = {}) {
  const described = Object.entries(headers).map(([name, text]) => [
    name,
    { type: 'string', description: text },
  ]);
  return {
    description,
    content: { 'application/json': { schema } },
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

/** The values from which `show` makes one of this type: times may be milliseconds, 0 for never. */
type Shown<T> = T extends string
  ? T | number
  : T extends readonly (infer Item)[]
    ? readonly Shown<Item>[]
    : T extends object
      ? { readonly [Name in keyof T]: Shown<T[Name]> }
      : T;

/**
 * An object as a schema shows it: only the fields that the schema names, with times in ISO 8601; a time of 0
 * is null if the schema permits null. Pure.
 */
export function show<T extends TObject>(schema: T, values: Shown<Static<T>>): Static<T> {
  return shown(schema, values) as Static<T>;
}

function shown(schema: TSchema, value: unknown): unknown {
  const { type, format, properties, items } = schema as {
    readonly type?: unknown;
    readonly format?: string;
    readonly properties?: Readonly<Record<string, TSchema>>;
    readonly items?: TSchema;
  };
  if (typeof value === 'number' && format === 'date-time')
    return type === 'string' ? new Date(value).toISOString() : isoOrNull(value);
  if (Array.isArray(value)) return items === undefined ? value : value.map((item) => shown(items, item));
  if (typeof value !== 'object' || value === null || properties === undefined) return value;
  const fields = Object.entries(properties).filter(([name]) => name in value);
  return Object.fromEntries(
    fields.map(([name, field]) => [name, shown(field, (value as Record<string, unknown>)[name])]),
  );
}

/** The times of a request in milliseconds, null for none. Throws the problem 422 for a span without time. */
export function spanOf(query: { readonly after?: string; readonly before?: string }) {
  const [after, before] = [instantMs(query.after), instantMs(query.before)];
  if (after !== null && before !== null && after >= before)
    throw invalidValue('before', 'must be later than after');
  return { after, before };
}

/** The id of a filing in a query. */
export const filingIdIn = (description: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 256, description }));
