import { spend, type Evaluation } from './budget.ts';

/**
 * A value of an expression: what JSON holds, or undefined for what cannot be decided: a missing field, or an
 * operation on values that do not suit it.
 */
export type Value = unknown;

const decimal = /^[+-]?\d{1,20}(?:\.\d{1,20})?$/;
const decimalLengthMax = 42;
const stepsOfDecimal = 20;

/** A number, or the number that a decimal text such as "18250.50" writes; undefined for anything else. */
export function toNumber(evaluation: Evaluation, value: Value): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value.length > decimalLengthMax) return undefined;
  spend(evaluation, stepsOfDecimal);
  return decimal.test(value) ? Number(value) : undefined;
}

/** Whether a value is a JSON object, not a list. */
export function isMap(value: Value): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Whether two values are equal: lists by their items, a number and a decimal text as numbers. Values of other
 * different types are not equal. Undefined for two objects, because nothing bounds the number of their
 * fields.
 */
export function areEqual(evaluation: Evaluation, a: Value, b: Value): boolean | undefined {
  const areTexts = typeof a === 'string' && typeof b === 'string';
  spend(evaluation, areTexts && a.length === b.length ? 1 + a.length / 64 : 1);
  if (a === b) return true;
  if (areTexts) return false;
  if (typeof a === 'number' || typeof b === 'number') {
    const [left, right] = [toNumber(evaluation, a), toNumber(evaluation, b)];
    return left !== undefined && left === right;
  }
  if (Array.isArray(a) && Array.isArray(b)) return areListsEqual(evaluation, a, b);
  return isMap(a) && isMap(b) ? undefined : false;
}

function areListsEqual(
  evaluation: Evaluation,
  a: readonly Value[],
  b: readonly Value[],
): boolean | undefined {
  if (a.length !== b.length) return false;
  let isDecided = true;
  for (const [i, item] of a.entries()) {
    const equal = areEqual(evaluation, item, b[i]);
    if (equal === false) return false;
    if (equal === undefined) isDecided = false;
  }
  return isDecided ? true : undefined;
}

/**
 * Less than 0, 0 or more than 0, as a text or number stands before, with or behind another one. Two texts
 * compare by their characters, which is right for dates of one form. Undefined where they cannot be compared.
 */
export function order(evaluation: Evaluation, a: Value, b: Value): number | undefined {
  if (typeof a === 'string' && typeof b === 'string') {
    spend(evaluation, Math.min(a.length, b.length) / 4);
    return compare(a, b);
  }
  if (typeof a !== 'number' && typeof b !== 'number') return undefined;
  const [left, right] = [toNumber(evaluation, a), toNumber(evaluation, b)];
  return left === undefined || right === undefined ? undefined : compare(left, right);
}

function compare<T extends string | number>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * A field of an object or an item of a list; undefined where it is missing. Only what the event itself has.
 */
export function memberOf(value: Value, key: Value): Value {
  if (Array.isArray(value))
    return Number.isSafeInteger(key) ? (value as unknown[])[key as number] : undefined;
  if (!isMap(value) || typeof key !== 'string') return undefined;
  return Object.hasOwn(value, key) ? value[key] : undefined;
}
