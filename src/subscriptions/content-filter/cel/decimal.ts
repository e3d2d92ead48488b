const decimal = /^[+-]?\d{1,20}(?:\.\d{1,20})?$/;
const lengthMax = 42;

/** The number that a decimal text such as "18250.50" writes; undefined for any other text. */
export function decimalOf(text: string): number | undefined {
  return text.length <= lengthMax && decimal.test(text) ? Number(text) : undefined;
}
