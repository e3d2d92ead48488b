/** A source of numbers in [0, 1), as `Math.random`. */
export type Random = () => number;

/**
 * A repeatable source: the same whole-number seed gives the same numbers (a 32-bit mixer in the style of
 * SplitMix).
 */
export function createRandom(seed: number): Random {
  let state = seed | 0;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 0x1_0000_0000;
  };
}

/** A whole number from `min` to `max`, both included. */
export function wholeNumber(random: Random, min: number, max: number): number {
  return min + Math.floor(random() * (max - min + 1));
}

/** One element of a list that is not empty. */
export function pick<T>(random: Random, list: readonly T[]): T {
  const chosen = list[Math.floor(random() * list.length)];
  if (chosen === undefined) throw new RangeError('nothing to pick from');
  return chosen;
}

/** A key of `weights`, each as likely as its share of the sum. */
export function pickWeighted<K extends string>(
  random: Random,
  weights: readonly (readonly [K, number])[],
): K {
  let rest = random() * weights.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [key, weight] of weights) {
    rest -= weight;
    if (rest < 0) return key;
  }
  throw new RangeError('the weights must be positive');
}

/** `length` random hexadecimal digits. */
export function hexDigits(random: Random, length: number): string {
  return Array.from({ length }, () => wholeNumber(random, 0, 15).toString(16)).join('');
}

/**
 * `count` different whole numbers below `limit` in random order, in time and memory that do not depend on
 * `limit`.
 */
export function sampleIndexes(random: Random, limit: number, count: number): number[] {
  const wanted = Math.min(count, limit);
  const chosen = new Set<number>();
  for (let top = limit - wanted; top < limit; top += 1) {
    const candidate = wholeNumber(random, 0, top);
    chosen.add(chosen.has(candidate) ? top : candidate);
  }
  return shuffled(random, [...chosen]);
}

/** The same elements in random order. */
export function shuffled<T>(random: Random, list: readonly T[]): T[] {
  const order = list.map((element) => ({ element, at: random() }));
  return order.toSorted((left, right) => left.at - right.at).map(({ element }) => element);
}
