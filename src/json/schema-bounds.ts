import type { FieldError } from './validation-problems.ts';

// Maximum characters of a text for which the schema names no limit: all custom headers together have as many.
const textLengthMax = 8_192;
// Maximum items of a list, and names of a map, for which the schema names no limit.
const entriesMax = 100;
// Number of findings after which the search ends.
const findingsMax = 11;

/** The keywords of JSON Schema from which limits follow. */
interface Shape {
  readonly type?: string | readonly string[];
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly items?: Shape;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly patternProperties?: Readonly<Record<string, Shape>>;
  readonly additionalProperties?: unknown;
}

/**
 * The places of a parsed JSON value that are too long, have too many entries, or are nested where the schema
 * has plain items; up to eleven. A value without such places is checked against the whole schema in no time
 * worth counting. The search never goes deeper than the schema, and its time is linear in the value's size.
 */
export function beyondBounds(schema: object, value: unknown): FieldError[] {
  const found: FieldError[] = [];
  look(schema, value, [], found);
  return found.slice(0, findingsMax);
}

function look(schema: Shape, value: unknown, at: readonly string[], found: FieldError[]): void {
  if (typeof value === 'string') lookAtText(schema, value, at, found);
  else if (Array.isArray(value)) lookAtList(schema, value, at, found);
  else if (typeof value === 'object' && value !== null)
    lookAtObject(schema, value as Readonly<Record<string, unknown>>, at, found);
}

function lookAtText({ maxLength }: Shape, text: string, at: readonly string[], found: FieldError[]): void {
  const limit = Math.max(textLengthMax, maxLength ?? 0);
  if (text.length <= limit) return;
  add(found, at, `must not have more than ${maxLength ?? limit} characters`);
}

function lookAtList(
  { maxItems = entriesMax, items }: Shape,
  list: readonly unknown[],
  at: readonly string[],
  found: FieldError[],
): void {
  if (list.length > maxItems) {
    add(found, at, `must not have more than ${maxItems} items`);
    return;
  }
  if (items === undefined) return;
  for (const [index, item] of list.entries()) {
    const place = [...at, String(index)];
    // Items that must differ are compared as a whole, so a plain one must not hold thousands of others.
    if (isPlain(items) && typeof item === 'object' && item !== null)
      add(found, place, items.type === 'string' ? 'must be a text' : `must be a ${String(items.type)}`);
    else look(items, item, place, found);
  }
}

function lookAtObject(
  schema: Shape,
  value: Readonly<Record<string, unknown>>,
  at: readonly string[],
  found: FieldError[],
): void {
  const { properties, maxProperties = entriesMax } = schema;
  const names = Object.keys(value);
  if (properties === undefined) {
    if (names.length > maxProperties) {
      add(found, at, `must not have more than ${maxProperties} fields`);
      return;
    }
    const [each] = Object.values(schema.patternProperties ?? {});
    if (each !== undefined) for (const name of names) look(each, value[name], [...at, name], found);
    return;
  }
  const unknown = names.filter((name) => !Object.hasOwn(properties, name));
  if (schema.additionalProperties === false && unknown.length >= findingsMax)
    for (const name of unknown.slice(0, findingsMax)) add(found, [...at, name], 'is not known');
  for (const [name, inner] of Object.entries(properties))
    if (Object.hasOwn(value, name)) look(inner, value[name], [...at, name], found);
}

function isPlain({ type }: Shape): boolean {
  return type === 'string' || type === 'number' || type === 'integer' || type === 'boolean';
}

function add(found: FieldError[], at: readonly string[], message: string): void {
  found.push({ path: at.join('.'), message });
}

const quote = 0x22;
const backslash = 0x5c;
const counted = new Set(Array.from(',[{', (character) => character.charCodeAt(0)));

/**
 * Whether a JSON text has more than `max` values, found without parsing it: every comma and every opening
 * bracket outside of a string announces at most one. The answer for a text that is no JSON means nothing.
 */
export function hasMoreValues(text: string, max: number): boolean {
  let values = 1;
  let isInString = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) isInString = !isInString;
    else if (isInString && code === backslash) at += 1;
    else if (!isInString && counted.has(code)) values += 1;
    if (values > max) return true;
  }
  return false;
}
