import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSortedRecords } from '../../../../src/sandbox/filings/sorted-records.ts';
import type { Position } from '../../../../src/sandbox/filings/sorted-records.ts';

const newestFirst = (records: readonly Position[]): Position[] =>
  records.toSorted((left, right) => right.createdAtMs - left.createdAtMs || right.arrival - left.arrival);

describe('sorted records', () => {
  it('give the same pages as a list that is sorted anew after each change', () => {
    const times = fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 60 });
    fc.assert(
      fc.property(
        times,
        times,
        fc.array(fc.nat()),
        fc.nat(70),
        fc.nat(30),
        (atOnce, later, removals, offset, limit) => {
          const sorted = createSortedRecords<Position>();
          const model = [...atOnce, ...later].map((createdAtMs, arrival) => ({ createdAtMs, arrival }));
          sorted.addMany(model.slice(0, atOnce.length));
          for (const record of model.slice(atOnce.length)) sorted.add(record);
          for (const at of removals) {
            const [removed] = model.splice(at % Math.max(model.length, 1), 1);
            if (removed !== undefined) sorted.remove(removed);
          }
          const expected = newestFirst(model);
          expect(sorted.size).toBe(model.length);
          expect(sorted.newestFirst(offset, limit)).toEqual(expected.slice(offset, offset + limit));
          expect(sorted.at(offset)).toEqual(expected[offset]);
          expect(sorted.matching(({ arrival }) => arrival % 2 === 0)).toEqual(
            expected.filter(({ arrival }) => arrival % 2 === 0),
          );
        },
      ),
    );
  });

  it('leave everything as it is when what is removed is not there', () => {
    const sorted = createSortedRecords<Position>();
    sorted.add({ createdAtMs: 5, arrival: 1 });
    sorted.remove({ createdAtMs: 5, arrival: 2 });
    sorted.remove({ createdAtMs: 4, arrival: 1 });
    expect(sorted.size).toBe(1);
  });
});
