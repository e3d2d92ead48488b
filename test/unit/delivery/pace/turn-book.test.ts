import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  bookAfter,
  bookAfterReturn,
  bookAfterUse,
  bookAt,
  emptyBook,
  lateMsMax,
  nextTurnMs,
  spacingMs,
  type Granted,
} from '../../../../src/delivery/pace/turn-book.ts';
import { mostPerSecond } from '../../../support/receivers/timed-receiver.ts';

const aheadMs = 300;
/** Milliseconds of the quickest answer of Redis. */
const replyMs = 4;

/** The turns of take-turns.lua, on a clock that is right. */
function createTurns(spacing: number) {
  let last = -Infinity;
  return (now: number, wanted: number) => {
    const first = Math.max(now, last + spacing);
    const taken = Math.min(wanted, Math.floor((aheadMs - (first - now)) / spacing) + 1);
    if (taken < 1) return { taken: 0, inMs: Math.ceil(first - now) };
    last = first + (taken - 1) * spacing;
    return { taken, inMs: Math.ceil(first - now) };
  };
}

const granted = (answer: Partial<Granted> = {}): Granted => ({
  taken: 1,
  inMs: 0,
  askedAt: 0,
  answeredAt: replyMs,
  replyMs,
  ...answer,
});

describe('turns', () => {
  it('of several processes with answers, timers and ways that take different times never put more than the rate into a second', () => {
    const steps = fc.array(
      fc.record({
        process: fc.nat(3),
        afterMs: fc.integer({ min: 0, max: 400 }),
        wanted: fc.integer({ min: 1, max: 20 }),
        outMs: fc.integer({ min: 0, max: 3 }),
        backMs: fc.integer({ min: 1, max: 60 }),
        lateMs: fc.array(fc.integer({ min: 0, max: 80 }), { minLength: 1, maxLength: 8 }),
        wayMs: fc.array(fc.integer({ min: 1, max: 34 }), { minLength: 1, maxLength: 8 }),
      }),
      { minLength: 1, maxLength: 60 },
    );
    fc.assert(
      fc.property(
        fc.oneof(fc.integer({ min: 1, max: 40 }), fc.constantFrom(0.2, 0.5)),
        steps,
        (rate, asks) => {
          const spacing = spacingMs(rate);
          const take = createTurns(spacing);
          const books = [0, 1, 2, 3].map(() => emptyBook);
          const arrivals: number[] = [];
          let now = 0;
          for (const { process, afterMs, wanted, outMs, backMs, lateMs, wayMs } of asks) {
            now += afterMs;
            const { taken, inMs } = take(now + outMs, wanted);
            const answeredAt = now + outMs + backMs;
            let book = bookAfter(
              books[process] ?? emptyBook,
              { taken, inMs, askedAt: now, answeredAt, replyMs },
              spacing,
            );
            for (let i = 0; i < taken; i += 1) {
              const [next] = book.turns;
              if (next === undefined) break;
              const at = next.at + (lateMs[i % lateMs.length] ?? 0);
              book = bookAt(book, at);
              if (nextTurnMs(book, at) !== 0) continue;
              arrivals.push(at + (wayMs[i % wayMs.length] ?? 0));
              book = bookAfterUse(book);
            }
            books[process] = { ...book, turns: [] };
          }
          expect(mostPerSecond(arrivals.toSorted((a, b) => a - b))).toBeLessThanOrEqual(Math.max(1, rate));
        },
      ),
      { numRuns: 500 },
    );
  });

  it('of a process keep their distance when the clock of Redis goes ahead', () => {
    const spacing = spacingMs(5);
    const former = bookAfter(emptyBook, granted({ taken: 2 }), spacing);
    const next = bookAfter(
      bookAfterUse(bookAfterUse(former)),
      granted({ askedAt: 50, answeredAt: 52 }),
      spacing,
    );
    const gap = (next.turns[0]?.at ?? 0) - (former.turns[1]?.at ?? 0);
    expect(gap).toBeGreaterThan(0.89 * spacing);
  });

  it('are used at their time, and not when a process has stopped until long after it', () => {
    const book = bookAfter(emptyBook, granted({ taken: 2, inMs: 10 }), 100);
    expect(nextTurnMs(book, 4)).toBe(10);
    expect(nextTurnMs(bookAt(book, 14 + lateMsMax), 14 + lateMsMax)).toBe(0);
    expect(nextTurnMs(bookAt(book, 15 + lateMsMax), 15 + lateMsMax)).toBe(114 - 15 - lateMsMax);
    expect(nextTurnMs(bookAt(book, 60_000), 60_000)).toBeNull();
  });

  it('of an answer that was long under way are late already', () => {
    const book = bookAfter(emptyBook, granted({ answeredAt: 100 }), 100);
    expect(nextTurnMs(bookAt(book, 100), 100)).toBeNull();
  });

  it('of what was not sent come back for a moment', () => {
    const used = bookAfterUse(bookAfter(emptyBook, granted(), 100));
    expect(nextTurnMs(used, replyMs)).toBeNull();
    const back = bookAfterReturn(used);
    expect(nextTurnMs(bookAt(back, replyMs + 5), replyMs + 5)).toBe(0);
    expect(nextTurnMs(bookAt(back, 1_000), 1_000)).toBeNull();
  });

  it('of slow rates lose nothing but the time by which they may be late', () => {
    expect(spacingMs(1 / 60)).toBe(60_070);
    expect(spacingMs(5)).toBe(214);
  });
});
