import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { TLocalizedValidationError } from 'typebox/error';
import { Settings } from 'typebox/system';
import { invalidRequest } from '../shared/problem.ts';
import type { FieldError } from '../shared/problem.ts';

const fieldErrorsMax = 100;

/** Checks a part of a request against its schema; the error is a Problem that lists every wrong value. */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const validator = Compile(schema);
  return (given: unknown) => {
    const value = httpPart === 'querystring' ? numbersFromText(schema, given) : given;
    if (validator.Check(value)) return { value };
    const errors = withErrorsMax(() => validator.Errors(value));
    return { error: invalidRequest(toFieldErrors(errors)) };
  };
};

/** Wrong values by field, each once; pure. */
function toFieldErrors(errors: readonly TLocalizedValidationError[]): FieldError[] {
  const all = errors.flatMap(describe);
  return all.filter((error, i) => all.findIndex(({ path }) => path === error.path) === i);
}

// What stands in a query is text; only whole numbers in plain digits become numbers, everything else is left
// to be refused.
function numbersFromText(schema: TSchema, given: unknown): Record<string, unknown> {
  const { properties = {} } = schema as { properties?: Record<string, { type?: unknown }> };
  const entries = Object.entries(given ?? {}).map(([name, text]: [string, unknown]) => {
    const isNumber = Object.hasOwn(properties, name) && properties[name]?.type === 'integer';
    return [name, isNumber && typeof text === 'string' && /^\d{1,9}$/.test(text) ? Number(text) : text];
  });
  return Object.fromEntries(entries) as Record<string, unknown>;
}

// TypeBox stops after eight errors unless a process-wide setting says otherwise; it is put back at once.
function withErrorsMax<T>(list: () => T): T {
  const { maxErrors } = Settings.Get();
  Settings.Set({ maxErrors: fieldErrorsMax });
  try {
    return list();
  } finally {
    Settings.Set({ maxErrors });
  }
}

function describe(error: TLocalizedValidationError): FieldError[] {
  const { instancePath, params, message } = error;
  const keyword: string = error.keyword;
  const at = instancePath.split('/').slice(1).map(unescapePointer);
  const path = at.join('.');
  const inside = (name: string): string => [...at, name].join('.');
  const values: Readonly<Record<string, unknown>> = { ...params };
  switch (keyword) {
    case 'required':
      return texts(values['requiredProperties']).map((name) => ({
        path: inside(name),
        message: 'is required',
      }));
    case 'additionalProperties':
      return texts(values['additionalProperties']).map((name) => ({
        path: inside(name),
        message: 'is not known',
      }));
    case 'enum':
      return [{ path, message: `must be one of ${texts(values['allowedValues']).join(', ')}` }];
    case 'boolean':
      return []; // the same as additionalProperties, said by the field itself
    default:
      return [
        { path, message: path === '' && keyword === 'type' ? 'The body must be a JSON object' : message },
      ];
  }
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

// RFC 6901 §4.
function unescapePointer(segment: string): string {
  return segment.replaceAll('~1', '/').replaceAll('~0', '~');
}
