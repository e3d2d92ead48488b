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
          expect(set.add(id, 0)).toBe(model.has(id) ? 'again' : 'new');
          model.add(id);
          expect(set.size).toBe(model.size);
        }
        for (const id of [...ids, ...others]) expect(set.has(id)).toBe(model.has(id));
      }),
    );
  });

  it('says whether an id is new to its part', () => {
    const set = createIdSet();
    const added = (['a', 'a', 'b', 'a', 'b'] as const).map((id, i) => set.add(id, i < 3 ? 1 : 2));
    expect(added).toEqual(['new', 'again', 'new', 'elsewhere', 'elsewhere']);
    expect(set.add('a', 2)).toBe('again');
    expect(set.size).toBe(2);
  });

  it('tells 300 000 similar ids apart', () => {
    const set = createIdSet();
    for (let i = 0; i < 100_000; i += 1) {
      set.add(`filing-${i}`, 0);
      set.add(`${i}-filing`, 0);
      set.add(`00000000-0000-4000-8000-${String(i).padStart(12, '0')}`, 0);
    }
    expect(set.size).toBe(300_000);
    expect(set.has('filing-100001')).toBe(false);
  });
});
