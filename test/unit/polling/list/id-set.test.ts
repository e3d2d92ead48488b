import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createIdSet } from '../../../../src/polling/list/id-set.ts';

describe('an id set', () => {
  it('behaves as a set of the ids', () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: 'binary' })), fc.array(fc.string()), (ids, others) => {
        const set = createIdSet();
        const model = new Set<string>();
        for (const id of ids) {
          expect(set.add(id)).toBe(!model.has(id));
          model.add(id);
          expect(set.size).toBe(model.size);
        }
        for (const id of [...ids, ...others]) expect(set.has(id)).toBe(model.has(id));
      }),
    );
  });

  it('keeps its parts apart, also while it grows and when one is begun anew', () => {
    const adding = fc.array(fc.tuple(fc.nat({ max: 2 }), fc.nat({ max: 150 })), { maxLength: 400 });
    fc.assert(
      fc.property(adding, adding, (before, after) => {
        const set = createIdSet();
        const parts = [set.part(), set.part(), set.part()];
        const models = parts.map(() => new Set<number>());
        const all = new Set<number>();
        const add = ([number, id]: readonly [number, number]) => {
          const expected = !all.has(id) ? 'new' : models[number]?.has(id) === true ? 'again' : 'elsewhere';
          expect(parts[number]?.add(String(id))).toBe(expected);
          models[number]?.add(id);
          all.add(id);
        };
        before.forEach(add);
        parts[1]?.end();
        [parts[1], models[1]] = [set.part(), new Set()];
        after.forEach(add);
        expect(set.size).toBe(all.size);
      }),
    );
  });

  it('keeps parts and ids apart when many of them are spread', () => {
    const set = createIdSet();
    const [one, other] = [set.part(), set.part()];
    const ids = Array.from({ length: 50_000 }, (_, i) => `filing-${i}`);
    for (const [i, id] of ids.entries()) (i % 2 === 0 ? one : other).add(id);
    const again = ids.map((id) => one.add(id));
    expect(again.filter((each, i) => each !== (i % 2 === 0 ? 'again' : 'elsewhere'))).toEqual([]);
    expect(ids.filter((id) => set.has(`other-${id}`))).toEqual([]);
    one.end();
    expect(set.size).toBe(ids.length);
    expect(set.part().add('filing-0')).toBe('elsewhere');
  });

  it('grows by small pieces, so that nothing else waits for it', () => {
    const set = createIdSet();
    let most = 0;
    for (let from = 0; from < 300_000; from += 100) {
      const before = process.memoryUsage().arrayBuffers;
      for (let i = from; i < from + 100; i += 1) set.add(`filing-${i}`);
      most = Math.max(most, process.memoryUsage().arrayBuffers - before);
    }
    expect(most).toBeLessThan(2 * 2 ** 20);
  });

  it('has eight parts at a time', () => {
    const set = createIdSet();
    const parts = Array.from({ length: 8 }, () => set.part());
    expect(() => set.part()).toThrow(RangeError);
    parts[5]?.end();
    expect(set.part().add('a')).toBe('new');
  });

  it('tells 300 000 similar ids apart', () => {
    const set = createIdSet();
    for (let i = 0; i < 100_000; i += 1) {
      set.add(`filing-${i}`);
      set.add(`${i}-filing`);
      set.add(`00000000-0000-4000-8000-${String(i).padStart(12, '0')}`);
    }
    expect(set.size).toBe(300_000);
    expect(set.has('filing-100001')).toBe(false);
  });
});
