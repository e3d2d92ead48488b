import { Environment } from '@marcbachmann/cel-js';
import { typeName } from './check-expression.ts';
import { decimalOf } from './decimal.ts';

// Maximum length of a text and of a list that an expression works on: what it takes is bounded by both.
const textMax = 10_000;
const itemsMax = 1_000;

/** A text or list that is too long to work on. An operation on it cannot be decided. */
class TooLong {
  /** Number of items; null for a text. */
  readonly items: number | null;

  constructor(value: string | readonly unknown[]) {
    this.items = typeof value === 'string' ? null : value.length;
  }
}

/** A JSON object, of which an expression reads only what is its own. Each field is made once. */
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
  if (typeof value === 'string') return value.length > textMax ? new TooLong(value) : value;
  if (!Array.isArray(value)) return isObject(value) ? new JsonObject(value) : value;
  if (value.length > itemsMax) return new TooLong(value);
  return value.map((item: unknown) => (Array.isArray(item) ? new TooLong(item) : visible(item)));
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

/** A list of numbers that a filter holds. */
class Numbers extends Set<number> {}

/** An event as expressions see it; for any number of evaluations. */
export type Context = Readonly<Record<string, unknown>>;

/** The context of an event as it was parsed from its body. */
export function contextOf(parsed: unknown): Context {
  const event = new JsonObject(isObject(parsed) ? parsed : {});
  const data = event.get('data');
  const filing = data instanceof JsonObject ? data.get('filing') : undefined;
  // A name without a value cannot be decided, nor whether it has a field.
  return {
    event,
    data: data ?? undefined,
    filing: filing ?? undefined,
    timestamp: event.get('timestamp'),
    [typeName]: event.get('type'),
  };
}

/** The language: that of the library, but that a decimal text counts as a number beside one. */
export const language = new Environment({ homogeneousAggregateLiterals: false });
for (const name of ['event', 'data', 'filing', 'timestamp', typeName]) language.registerVariable(name, 'dyn');

language
  .registerType('object', JsonObject)
  .registerType('tooLong', TooLong)
  .registerOperator('object == object', isSame)
  .registerOperator('tooLong == tooLong', isSame)
  .registerOperator('string in object: bool', (name, object: JsonObject) => object.get(name) !== undefined)
  .registerType('numbers', Numbers)
  .registerFunction('numbers(list<double>): numbers', (items: number[]) => new Numbers(items))
  .registerOperator('double in numbers: bool', (value: number, list: Numbers) => list.has(value))
  .registerOperator('string in numbers: bool', (text: string, list: Numbers) =>
    list.has(decimalOf(text) ?? NaN),
  )
  .registerFunction(
    'hasField(object, string): bool',
    (object: JsonObject, name: string) => object.get(name) !== undefined,
  )
  .registerFunction('size(tooLong): int', ({ items }: TooLong) => BigInt(items ?? undecided()))
  .registerOperator('-string: double', (text) => -numberOf(text))
  .registerOperator('dyn<string> == double', (text: string, number) => decimalOf(text) === number);

const orders: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '<': (a, b) => a < b,
  '<=': (a, b) => a <= b,
  '>': (a, b) => a > b,
  '>=': (a, b) => a >= b,
};
const sums: Readonly<Record<string, (a: number, b: number) => number>> = {
  '+': (a, b) => a + b,
  '-': (a, b) => a - b,
  '*': (a, b) => a * b,
};
for (const [types, result] of [
  [orders, 'bool'],
  [sums, 'double'],
] as const)
  for (const [operator, apply] of Object.entries(types))
    for (const [left, right] of [
      ['string', 'double'],
      ['double', 'string'],
      ['string', 'string'],
    ] as const)
      if (left !== right || operator === '-' || operator === '*')
        language.registerOperator(`${left} ${operator} ${right}: ${result}`, (a, b) =>
          apply(numberOf(a), numberOf(b)),
        );

function isSame(a: unknown, b: unknown): boolean {
  return a === b || undecided();
}

function numberOf(value: string | number): number {
  return typeof value === 'number' ? value : (decimalOf(value) ?? undecided());
}

function undecided(): never {
  throw new Error('undecided');
}
