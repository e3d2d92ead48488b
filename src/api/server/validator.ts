import type { FastifySchemaCompiler } from 'fastify';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Settings } from 'typebox/system';
import { fieldErrors, isMissing } from '../../json/validation-problems.ts';
import type { FieldError, SchemaViolation } from '../../json/validation-problems.ts';
import { meant, nearName, suggestion, unknownWord } from '../../words/near-name.ts';
import { timeWords } from '../../json/instant.ts';
import { patternWords } from '../shared/patterns.ts';
import { invalidRequest } from '../shared/problem.ts';

// Maximum findings of TypeBox in one request: an unknown field is one by itself, before all are named.
const violationsMax = 2_100;

/**
 * Checks a part of a request against its schema; the error is a Problem that lists the first wrong values.
 * A body has few enough values for that (`bodyValuesMax`). Unlike TypeBoxValidatorCompiler it converts
 * nothing but whole numbers in a query: `5.0`, `0x5` and `1e1` are refused.
 */
export const compileValidator: FastifySchemaCompiler<TSchema> = ({ schema, httpPart }) => {
  const validator = Compile(schema);
  return (given: unknown) => {
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

/** The keywords of a schema of which messages speak. */
interface Described {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
}

/** A part of a request with the schema that it does not fit. */
interface Checked {
  readonly schema: TSchema;
  readonly value: unknown;
  /** `querystring` for a query, whose values are texts. */
  readonly part: string | undefined;
}

// Maximum number of unknown fields of which each has the list of the known ones.
const listedFor = 3;

const typeWords: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  integer: 'a whole number',
  null: 'null',
  number: 'a number',
  object: 'an object',
  string: 'a text',
};

/**
 * A finding of TypeBox in words that say what to write; undefined if its own message does. `at` is the path
 * of the value; `name` is that of an unknown field.
 */
function explain(
  checked: Checked,
  violation: SchemaViolation,
  at: readonly string[],
  name: string | undefined,
): string | undefined {
  const params = violation.params as Readonly<Record<string, unknown>>;
  const schema = at.length === 0 ? checked.schema : resolve(checked.schema, violation.schemaPath ?? '#');
  const value = valueAt(checked.value, at);
  switch (violation.keyword) {
    case 'additionalProperties':
      return name === undefined ? undefined : unknownField(checked, schema, name, params[violation.keyword]);
    case 'type':
      return at.length === 0 ? 'The body must be a JSON object' : wrongType(checked, schema);
    case 'enum': {
      const allowed = (params['allowedValues'] as readonly string[]).filter(isOffered);
      return typeof value === 'string' ? unknownWord(value, nounOf(at), allowed) : undefined;
    }
    case 'format':
      return params['format'] === 'date-time' ? timeWords : undefined;
    case 'pattern':
      return typeof value === 'string' ? patternWords.get(String(params['pattern']))?.(value) : undefined;
    default:
      return undefined;
  }
}

function unknownField(
  { part }: Checked,
  { properties = {} }: Described,
  name: string,
  unknown: unknown,
): string {
  const known = Object.keys(properties);
  if (part !== 'querystring') {
    const isLong = Array.isArray(unknown) && unknown.length > listedFor;
    return `is not known${isLong ? meant(name, known) : suggestion(name, known)}`;
  }
  return known.length === 0
    ? 'is not known: this request takes no query parameters'
    : `is no query parameter here${suggestion(name, known)}`;
}

function wrongType({ part }: Checked, schema: Described): string {
  const types = [schema.type ?? []].flat();
  const words = types.map((type) => typeWords[type] ?? type).join(' or ');
  const example = schema.examples?.[0] ?? schema.default;
  if (example === undefined || types.includes('boolean') || types.includes('integer'))
    return `must be ${words}`;
  return `must be ${words}, e.g. ${part === 'querystring' && typeof example === 'string' ? example : JSON.stringify(example)}`;
}

// A subscription may name `ping`, but a ping is in no log: it comes with a test call only.
function isOffered(word: string): boolean {
  return word !== 'ping';
}

// The name of a field as words, of an item that of its list: `eventTypes.0` holds an event type.
function nounOf(at: readonly string[]): string {
  const isItem = /^\d+$/.test(at.at(-1) ?? '');
  const words = (at.at(isItem ? -2 : -1) ?? 'value').replaceAll(
    /[A-Z]/g,
    (letter) => ` ${letter.toLowerCase()}`,
  );
  return isItem ? words.replace(/(?<=us|ss)es$|s$/, '') : words;
}

function valueAt(value: unknown, at: readonly string[]): unknown {
  return at.reduce<unknown>(
    (inner, name) => (inner as Readonly<Record<string, unknown>> | null | undefined)?.[name],
    value,
  );
}

// The schema at a JSON pointer into another (RFC 6901); empty if there is none.
function resolve(schema: TSchema, pointer: string): object {
  const found = valueAt(schema, pointer.split('/').slice(1));
  return typeof found === 'object' && found !== null ? found : {};
}
