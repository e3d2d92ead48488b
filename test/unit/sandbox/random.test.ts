import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRandom, hexDigits, pickWeighted, sampleIndexes } from '../../../src/sandbox/random.ts';

const draw = (seed: number) => Array.from({ length: 5 }, createRandom(seed));

describe('random', () => {
  it('repeats itself for the same seed and differs for another', () => {
    expect(draw(1)).toEqual(draw(1));
    expect(draw(1)).not.toEqual(draw(2));
  });

  it('is spread evenly over [0, 1)', () => {
    const random = createRandom(9);
    const buckets = Array.from({ length: 10 }, () => 0);
    for (let n = 0; n < 20_000; n += 1) {
      const bucket = Math.floor(random() * 10);
      buckets[bucket] = (buckets[bucket] ?? 0) + 1;
    }
    for (const count of buckets) expect(Math.abs(count - 2_000)).toBeLessThan(200);
  });

  it('samples different indexes below the limit, as many as there are at most', () => {
    fc.assert(
      fc.property(fc.nat(50), fc.nat(60), fc.integer(), (limit, count, seed) => {
        const indexes = sampleIndexes(createRandom(seed), limit, count);
        expect(indexes).toHaveLength(Math.min(limit, count));
        expect(new Set(indexes).size).toBe(indexes.length);
        for (const index of indexes) expect(index).toBeLessThan(limit);
      }),
    );
  });

  it('picks by weight', () => {
    expect(pickWeighted(() => 0.89, [['a', 9] as const, ['b', 1] as const])).toBe('a');
    expect(pickWeighted(() => 0.91, [['a', 9] as const, ['b', 1] as const])).toBe('b');
  });

  it('draws as many hexadecimal digits as asked for', () => {
    expect(hexDigits(createRandom(1), 30)).toMatch(/^[0-9a-f]{30}$/);
  });
});
