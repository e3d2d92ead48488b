import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Settings } from 'typebox/system';
import { beyondBounds } from '../../json/schema-bounds.ts';
import { fieldErrors, isMissing } from '../../json/validation-problems.ts';
import type { FieldError, SchemaViolation } from '../../json/validation-problems.ts';
import { nearName } from '../../words/near-name.ts';
import { invalidRequest } from '../shared/problem.ts';
import { explain } from './explain.ts';

// Maximum findings of TypeBox in one request; several may be about the same field.
const violationsMax = 100;

/**
 * Checks a part of a request against its schema; the error is a Problem that lists the first wrong values.
 * What is too long or too many is refused before the schema is applied, because finding what is wrong with
 * thousands of items takes seconds. Unlike TypeBoxValidatorCompiler it converts nothing but whole numbers in
 * a query: `5.0`, `0x5` and `1e1` are refused.
 */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const validator = Compile(schema);
  return (given: unknown) => {
    const tooMuch = beyondBounds(schema, given);
    if (tooMuch.length > 0) return { error: invalidRequest(tooMuch) };
    const value = httpPart === 'querystring' ? numbersFromText(schema, given) : given;
    if (validator.Check(value)) return { value };
    const violations = withErrorsMax(() => validator.Errors(value));
    const checked = { schema, value, part: httpPart };
    const errors = fieldErrors(violations, (...found) => explain(checked, ...found));
    return { error: invalidRequest(withoutMisspelt(errors, violations)) };
  };
};

// A field whose name is misspelt is missing only for that: one mistake, one error.
function withoutMisspelt(
  errors: readonly FieldError[],
  violations: readonly SchemaViolation[],
): readonly FieldError[] {
  const unknown = violations.flatMap(({ params }) => {
    const { additionalProperties = [] } = params as { additionalProperties?: readonly string[] };
    return additionalProperties;
  });
  const missing = errors.filter(({ message }) => message === isMissing).map(({ path }) => path);
  const misspelt = new Set(unknown.map((name) => nearName(name, missing)));
  return errors.filter(({ path, message }) => message !== isMissing || !misspelt.has(path));
}

// A query holds text. Only whole numbers in plain digits become numbers; the schema refuses the rest.
function numbersFromText(schema: TSchema, given: unknown): Record<string, unknown> {
  const { properties = {} } = schema as { properties?: Record<string, { type?: unknown }> };
  const entries = Object.entries(given ?? {}).map(([name, text]: [string, unknown]) => {
    const isNumber = Object.hasOwn(properties, name) && properties[name]?.type === 'integer';
    return [name, isNumber && typeof text === 'string' && /^\d{1,9}$/.test(text) ? Number(text) : text];
  });
  return Object.fromEntries(entries) as Record<string, unknown>;
}

// TypeBox stops after eight errors unless a process-wide setting is higher; the setting is restored at once.
function withErrorsMax<T>(list: () => T): T {
  const { maxErrors } = Settings.Get();
  Settings.Set({ maxErrors: violationsMax });
  try {
    return list();
  } finally {
    Settings.Set({ maxErrors });
  }
}
