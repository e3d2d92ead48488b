import type { TSchema } from 'typebox';
import type { SchemaViolation } from '../../json/validation-problems.ts';
import { meant, suggestion, unknownWord } from '../../words/near-name.ts';
import { timeWords } from '../../json/instant.ts';
import { patternWords } from '../shared/patterns.ts';

/** The keywords of a schema of which messages speak. */
interface Described {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
}

/** A part of a request with the schema that it does not fit. */
export interface Checked {
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
 * A finding of TypeBox in words that say what to write, undefined where its own message does; pure. `at` is
 * the place of the value; `name` is that of an unknown field.
 */
export function explain(
  checked: Checked,
  violation: SchemaViolation,
  at: readonly string[],
  name: string | undefined,
): string | undefined {
  const params = violation.params as Readonly<Record<string, unknown>>;
  const schema = at.length === 0 ? checked.schema : resolve(checked.schema, violation.schemaPath ?? '#');
  const described = schema as Described;
  const unit = at.at(-1)?.endsWith('Ms') === true ? ' (ms)' : '';
  switch (violation.keyword) {
    case 'additionalProperties':
      return name === undefined
        ? undefined
        : unknownField(checked, described, name, params['additionalProperties']);
    case 'type':
      return at.length === 0 ? 'The body must be a JSON object' : wrongType(checked, described, unit);
    case 'enum':
      return wrongWord(valueAt(checked.value, at), at, params['allowedValues']);
    case 'minimum':
      return `must be at least ${String(params['limit'])}${unit}`;
    case 'maximum':
      return `must be at most ${String(params['limit'])}${unit}`;
    case 'minLength':
      return params['limit'] === 1 ? 'must not be empty' : undefined;
    case 'minItems':
      return params['limit'] === 1 ? 'must not be an empty list' : undefined;
    case 'uniqueItems':
      return 'must not hold the same value twice';
    case 'format':
      return params['format'] === 'date-time' ? timeWords : undefined;
    case 'pattern':
      return wrongText(valueAt(checked.value, at), String(params['pattern']));
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
  const isLong = Array.isArray(unknown) && unknown.length > listedFor;
  if (part !== 'querystring' && isLong) return `is not known${meant(name, known)}`;
  if (part !== 'querystring') return `is not known${suggestion(name, known)}`;
  return known.length === 0
    ? 'is not known: this request takes no query parameters'
    : `is no query parameter here${suggestion(name, known)}`;
}

function wrongType({ part }: Checked, schema: Described, unit: string): string {
  const types = [schema.type ?? []].flat();
  const words = types.map((type) => typeWords[type] ?? type).join(' or ');
  if (types.includes('integer')) return `must be ${words}${range(schema, unit)}`;
  const example = schema.examples?.[0] ?? schema.default;
  if (example === undefined || types.includes('boolean')) return `must be ${words}`;
  return `must be ${words}, e.g. ${part === 'querystring' && typeof example === 'string' ? example : JSON.stringify(example)}`;
}

function range({ minimum, maximum }: Described, unit: string): string {
  return minimum === undefined || maximum === undefined ? unit : ` from ${minimum} to ${maximum}${unit}`;
}

function wrongText(value: unknown, pattern: string): string | undefined {
  return typeof value === 'string' ? patternWords.get(pattern)?.(value) : undefined;
}

function wrongWord(value: unknown, at: readonly string[], allowed: unknown): string | undefined {
  if (typeof value !== 'string' || !Array.isArray(allowed)) return undefined;
  return unknownWord(value, nounOf(at), (allowed as unknown[]).map(String).filter(isOffered));
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

// The schema at a JSON pointer into another (RFC 6901); empty where there is none.
function resolve(schema: TSchema, pointer: string): object {
  const found = valueAt(schema, pointer.split('/').slice(1));
  return typeof found === 'object' && found !== null ? found : {};
}
