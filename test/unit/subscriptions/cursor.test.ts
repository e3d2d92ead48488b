import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCursor } from '../../../src/subscriptions/cursor.ts';

describe('a cursor', () => {
  it.each([
    { marks: [1, 2, 3], cursor: 3, done: '' },
    { marks: [2, 3], cursor: 0, done: '2-3' },
    { marks: [3, 1], cursor: 1, done: '3' },
    { marks: [5, 3, 4, 9], cursor: 0, done: '3-5,9' },
    { marks: [2, 4, 3, 1], cursor: 4, done: '' },
    { marks: [1, 1, 0, -1], cursor: 1, done: '' },
  ])('after $marks stands at $cursor with "$done" beyond', ({ marks, cursor: reached, done }) => {
    const cursor = createCursor(0, '');
    for (const position of marks) cursor.markDone(position);
    expect([cursor.position(), cursor.done()]).toEqual([reached, done]);
  });

  it('takes up its stored form', () => {
    const cursor = createCursor(4, '7-9,12');
    expect([4, 5, 7, 9, 10, 12].map(cursor.isDone)).toEqual([true, false, true, true, false, true]);
    expect([cursor.position(), cursor.last(), cursor.done()]).toEqual([4, 12, '7-9,12']);
    expect(createCursor(4, '').last()).toBe(4);
    cursor.markRange(5, 6);
    expect([cursor.position(), cursor.done()]).toEqual([9, '12']);
  });

  it('marks a long stretch at once and counts what was new', () => {
    const cursor = createCursor(0, '10-19');
    expect(cursor.markRange(5, 1_000_000_000)).toBe(1_000_000_000 - 4 - 10);
    expect([cursor.position(), cursor.done()]).toEqual([0, '5-1000000000']);
    expect(cursor.markRange(1, 4)).toBe(4);
    expect(cursor.markRange(1, 4)).toBe(0);
    expect(cursor.position()).toBe(1_000_000_000);
  });

  it('is what a plain set of positions would be, whatever is marked in whatever order', () => {
    const mark = fc.tuple(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 0, max: 12 }));
    fc.assert(
      fc.property(fc.array(mark, { maxLength: 40 }), (marks) => {
        let cursor = createCursor(0, '');
        const set = new Set<number>();
        for (const [first, more] of marks) {
          const sizeBefore = set.size;
          for (let position = first; position <= first + more; position += 1) set.add(position);
          expect(cursor.markRange(first, first + more)).toBe(set.size - sizeBefore);
          cursor = createCursor(cursor.position(), cursor.done());
          for (let position = 1; position < 80; position += 1)
            expect(cursor.isDone(position)).toBe(set.has(position));
        }
        let contiguous = 0;
        while (set.has(contiguous + 1)) contiguous += 1;
        expect(cursor.position()).toBe(contiguous);
      }),
    );
  });
});
