import { Type } from 'typebox';
import type { Static, TOptional, TSchema } from 'typebox';

/** A schema that also accepts null, as one type list: it then reports one error instead of one per branch. */
export function nullable<T extends TSchema>(schema: T, options: Record<string, unknown> = {}) {
  const { type } = schema as unknown as { type: string };
  return Type.Unsafe<Static<T> | null>({ ...schema, type: [type, 'null'], ...options });
}

/** A schema for one of these words. */
export function oneOf<const T extends readonly string[]>(words: T, options: Record<string, unknown> = {}) {
  return Type.Unsafe<T[number]>({ type: 'string', enum: [...words], ...options });
}

/** An object with these fields and no others. */
export function record<T extends Record<string, TSchema>>(fields: T, options: Record<string, unknown> = {}) {
  return Type.Object(fields, { ...options, additionalProperties: false });
}

/** A record with a description. */
export function described<T extends Record<string, TSchema>>(description: string, fields: T) {
  return record(fields, { description });
}

/** A record that several responses share under this id. */
export function shared<T extends Record<string, TSchema>>($id: string, fields: T) {
  return record(fields, { $id });
}

/** Fields that may be missing. */
export function optional<T extends Record<string, TSchema>>(fields: T) {
  const entries = Object.entries(fields).map(([name, field]) => [name, Type.Optional(field)]);
  return Object.fromEntries(entries) as { [Name in keyof T]: TOptional<T[Name]> };
}

/** A time of a response: ISO 8601 in UTC with milliseconds. */
export const time = (description: string) =>
  Type.String({ format: 'date-time', description, examples: ['2026-11-21T10:00:03.120Z'] });

/** A time of a response, null for never or none. */
export const timeOrNull = (description: string) => nullable(time(description));

/** A text with a description. */
export const string = (description: string, options: { readonly examples?: string[] } = {}) =>
  Type.String({ description, ...options });

/** A whole number with a description. */
export const integer = (description: string, options: { readonly examples?: number[] } = {}) =>
  Type.Integer({ description, ...options });

/** A truth value with a description. */
export const boolean = (description: string) => Type.Boolean({ description });

/** A text with a description, or null. */
export const stringOrNull = (description: string, options: { readonly examples?: string[] } = {}) =>
  nullable(string(description, options));

/** A whole number with a description, or null. */
export const integerOrNull = (description: string) => nullable(integer(description));

/** A schema that also refuses the values with a problem, which completes "the field …". */
export function checked<T extends TSchema>(schema: T, problemOf: (value: Static<T>) => string | null) {
  return Type.Refine(
    schema,
    (value) => problemOf(value) === null,
    (value) => problemOf(value) ?? '',
  );
}
