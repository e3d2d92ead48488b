import { Environment } from '@marcbachmann/cel-js';
import { event, file, filing } from './event-fields.ts';

// Maximum length of a text and of a list that an expression works on: what it takes is bounded by both.
const textMax = 10_000;
const itemsMax = 1_000;

/**
 * A JSON object, of which an expression reads only what is its own. Each field is made once. An empty one
 * stands for a text or list that is too long to work on: no operation on it can be decided.
 */
class JsonObject extends Map<unknown, unknown> {
  readonly #own: Readonly<Record<string, unknown>>;

  constructor(own: Readonly<Record<string, unknown>>) {
    super();
    this.#own = own;
  }

  override get(name: unknown): unknown {
    if (this.has(name)) return super.get(name);
    const value =
      typeof name === 'string' && Object.hasOwn(this.#own, name) ? visible(this.#own[name]) : undefined;
    this.set(name, value);
    return value;
  }
}

function visible(value: unknown): unknown {
  if (typeof value === 'string') return value.length > textMax ? new JsonObject({}) : value;
  if (!Array.isArray(value)) return isObject(value) ? new JsonObject(value) : value;
  if (value.length > itemsMax) return new JsonObject({});
  return value.map((item: unknown) => (Array.isArray(item) ? new JsonObject({}) : visible(item)));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** An event as expressions see it; for any number of evaluations. */
export type Context = Readonly<Record<string, unknown>>;

/** The context of an event as it was parsed from its body. */
export function contextOf(parsed: unknown): Context {
  const root = new JsonObject(isObject(parsed) ? parsed : {});
  const data = root.get('data');
  const document = data instanceof JsonObject ? data.get('filing') : undefined;
  // A name without a value cannot be decided, nor whether it has a field.
  return { event: root, filing: document ?? undefined };
}

/** The language: that of the library, but that a decimal text counts as a number beside one. */
export const language = new Environment({ homogeneousAggregateLiterals: false });
language
  .registerVariable('event', 'dyn')
  .registerVariable('filing', 'dyn')
  .registerType('object', JsonObject)
  .registerOperator('object == object', (a, b) => a === b || undecided())
  .registerOperator('-string: double', (text) => -numberOf(text))
  .registerOperator('dyn<string> == double', (text: string, number) => decimalOf(text) === number);

const results: Readonly<Record<string, (a: number, b: number) => boolean | number>> = {
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
};
for (const [operator, apply] of Object.entries(results)) {
  const type = operator < '<' ? 'double' : 'bool';
  const work = (a: string | number, b: string | number) => apply(numberOf(a), numberOf(b));
  language.registerOperator(`string ${operator} double: ${type}`, work);
  language.registerOperator(`double ${operator} string: ${type}`, work);
  if (operator === '-' || operator === '*')
    language.registerOperator(`string ${operator} string: double`, work);
}

/** The language in which the fields of events have their types, without decimal texts; for checks alone. */
export const typedLanguage = new Environment({ homogeneousAggregateLiterals: false })
  .registerType('file', { fields: { ...file } })
  .registerVariable({ name: 'event', schema: event })
  .registerVariable({ name: 'filing', schema: filing });

function numberOf(value: string | number): number {
  return typeof value === 'number' ? value : (decimalOf(value) ?? undecided());
}

function undecided(): never {
  throw new Error('undecided');
}

const decimal = /^[+-]?\d{1,20}(?:\.\d{1,20})?$/;

// The number that a decimal text such as "18250.50" writes; undefined for any other text.
function decimalOf(text: string): number | undefined {
  return decimal.test(text) ? Number(text) : undefined;
}
