import { pick, wholeNumber, type Random } from '../../../src/sandbox/random.ts';

/** Inputs do not grow beyond so many bytes. */
export const inputBytesMax = 4_096;

const oddBytes = Buffer.from('\0\t\n\r "#%&\'()*+,-./0:;=?@A[\\]_`az{|}~\x7f\xa0\xff', 'latin1');
const oddTexts = ['', '__proto__', 'constructor', '\ud800', '\u202e', '\ufffd', '.', '..', 'x'.repeat(300)];
const oddNumbers = ['-1', '0', '1', '255', '256', '65536', '2147483648', '9007199254740993', '1e400', '0x1'];
const oddValues: readonly unknown[] = [null, true, 0, -1, 1.5, 1e21, [], {}, [[]], ...oddTexts];

type Change = (input: Buffer, random: Random, words: readonly string[], other: Buffer) => Buffer;

/**
 * An input made of another by a few random changes of bytes, words, numbers or JSON, or by crossing it with a
 * second one; pure but for `random`.
 */
export function mutate(input: Buffer, other: Buffer, words: readonly string[], random: Random): Buffer {
  let next = input;
  for (let left = 2 ** Math.floor(3 * random() ** 2); left > 0; left -= 1)
    next = pick(random, changes)(next, random, words, other).subarray(0, inputBytesMax);
  return next;
}

const changes: readonly Change[] = [
  (input, random) => replace(input, random, 1, Buffer.of(pick(random, [...oddBytes]))),
  (input, random) => replace(input, random, 1, Buffer.of(wholeNumber(random, 0, 255))),
  (input, random) => replace(input, random, 1, Buffer.of(pick(random, [...oddBytes]))),
  (input, random) => replace(input, random, 0, Buffer.of(pick(random, [...oddBytes]))),
  (input, random) => replace(input, random, wholeNumber(random, 1, 16), Buffer.of()),
  (input, random, words) => replace(input, random, 0, Buffer.from(pick(random, words))),
  (input, random, words) => {
    const word = Buffer.from(pick(random, words));
    return replace(input, random, word.length, word);
  },
  repeatPart,
  changeNumber,
  cross,
  changeJson,
  changeJson,
];

function replace(input: Buffer, random: Random, length: number, by: Buffer): Buffer {
  const at = wholeNumber(random, 0, Math.max(0, input.length - length));
  return Buffer.concat([input.subarray(0, at), by, input.subarray(at + length)]);
}

function repeatPart(input: Buffer, random: Random): Buffer {
  const at = wholeNumber(random, 0, input.length);
  const part = input.subarray(at, at + wholeNumber(random, 1, 8));
  const times = 2 ** Math.floor(11 * random() ** 2);
  return Buffer.concat([input.subarray(0, at), ...Array<Buffer>(times).fill(part), input.subarray(at)]);
}

function changeNumber(input: Buffer, random: Random): Buffer {
  const text = input.toString('latin1');
  const numbers = [...text.matchAll(/\d+/g)];
  if (numbers.length === 0) return input;
  const { index, 0: digits } = pick(random, numbers);
  const by = random() < 0.5 ? pick(random, oddNumbers) : String(BigInt(digits) + (random() < 0.5 ? 1n : -1n));
  return Buffer.from(text.slice(0, index) + by + text.slice(index + digits.length), 'latin1');
}

function cross(input: Buffer, random: Random, _words: readonly string[], other: Buffer): Buffer {
  const head = input.subarray(0, wholeNumber(random, 0, input.length));
  return Buffer.concat([head, other.subarray(wholeNumber(random, 0, other.length))]);
}

/** Changes one value, key or list of a JSON text; leaves other texts as they are. */
function changeJson(input: Buffer, random: Random, words: readonly string[]): Buffer {
  try {
    const root = { '': JSON.parse(input.toString()) as unknown };
    const places = placesOf(root, 20);
    const [holder, key] = pick(random, places);
    const [otherHolder, otherKey] = pick(random, places);
    const makes: readonly (() => unknown)[] = [
      () => pick(random, oddValues),
      () => pick(random, words),
      () => otherHolder[otherKey],
      () => Array.from({ length: wholeNumber(random, 0, 12) }, () => holder[key]),
      () => nested(holder[key], wholeNumber(random, 1, 60)),
    ];
    const value = pick(random, makes)();
    const name = Array.isArray(holder) || random() < 0.7 ? key : pick(random, [...words, ...oddTexts]);
    if (random() < 0.1) delete holder[key];
    else Object.defineProperty(holder, name, { value, enumerable: true, writable: true, configurable: true });
    return Buffer.from(JSON.stringify(root['']) ?? '');
  } catch {
    return input; // no JSON, or nested too deeply for a parser that recurses
  }
}

type Holder = Record<string, unknown>;

function placesOf(holder: object, levels: number): [Holder, string][] {
  return Object.entries(holder).flatMap(([key, value]: [string, unknown]) => {
    const inner =
      typeof value === 'object' && value !== null && levels > 0 ? placesOf(value, levels - 1) : [];
    return [[holder as Holder, key] as [Holder, string], ...inner];
  });
}

function nested(value: unknown, levels: number): unknown {
  return levels === 0 ? value : nested([value], levels - 1);
}
