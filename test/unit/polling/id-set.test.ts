import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createIdSet } from '../../../src/polling/id-set.ts';

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
