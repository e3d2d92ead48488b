import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPagesAhead } from '../../../../src/polling/list/prefetch.ts';

/** A list of pages of a hundred, and a service that answers when told to. */
function openList(likelyNext: (offset: number) => number | null = (offset) => offset + 100) {
  const asked: { offset: number; arrive: () => void; answer: () => void }[] = [];
  let offset = 0;
  const pages = createPagesAhead<number>({
    offset: () => offset,
    likelyNext: () => likelyNext(offset),
    fetch: (at, onArrival) =>
      new Promise((resolve) => {
        asked.push({ offset: at, arrive: onArrival, answer: () => resolve(at) });
      }),
  });
  return {
    pages,
    asked,
    offsets: () => asked.map((each) => each.offset),
    turnTo(next: number) {
      offset = next;
      pages.turn();
    },
  };
}

describe('the pages of a list', () => {
  it('are asked for as soon as the one before has arrived, and not before', async () => {
    const { pages, asked, offsets, turnTo } = openList();
    const first = pages.take();
    expect(offsets()).toEqual([0]);
    asked[0]?.arrive();
    expect(offsets()).toEqual([0, 100]);
    asked[0]?.answer();
    expect(await first).toBe(0);
    turnTo(100);
    expect(pages.isAsked()).toBe(true);
    pages.ask();
    expect(offsets()).toEqual([0, 100]);
  });

  it('wait while one has arrived whose turn has not come', () => {
    const { pages, asked, offsets, turnTo } = openList();
    void pages.take();
    asked[0]?.arrive();
    asked[1]?.arrive();
    expect(offsets()).toEqual([0, 100]);
    turnTo(100);
    expect(offsets()).toEqual([0, 100, 200]);
  });

  it('are asked for in turn where it is not known what follows', () => {
    const { pages, asked, offsets, turnTo } = openList(() => null);
    void pages.take();
    asked[0]?.arrive();
    turnTo(100);
    expect(pages.isAsked()).toBe(false);
    expect(offsets()).toEqual([0]);
    pages.ask();
    expect(offsets()).toEqual([0, 100]);
  });

  it('that turn out to be others are asked for, and from then on none too early', async () => {
    const { pages, asked, offsets, turnTo } = openList();
    void pages.take();
    asked[0]?.arrive();
    turnTo(50);
    expect(pages.isAsked()).toBe(false);
    const second = pages.take();
    expect(offsets()).toEqual([0, 100, 50]);
    asked[2]?.arrive();
    expect(offsets()).toEqual([0, 100, 50]);
    asked[1]?.answer();
    asked[2]?.answer();
    expect(await second).toBe(50);
  });

  it('are asked for again behind one that had to be read again', async () => {
    const { pages, asked, offsets, turnTo } = openList();
    void pages.take();
    asked[0]?.arrive();
    asked[0]?.arrive();
    turnTo(100);
    expect(pages.isAsked()).toBe(false);
    const second = pages.take();
    expect(offsets()).toEqual([0, 100, 100]);
    asked[2]?.answer();
    expect(await second).toBe(100);
  });

  it('leave no request behind', async () => {
    const { pages, asked } = openList();
    void pages.take();
    asked[0]?.arrive();
    let settled = false;
    const settling = pages.settled().then(() => (settled = true));
    await new Promise(setImmediate);
    expect(settled).toBe(false);
    asked[1]?.answer();
    await settling;
  });

  it('come one after the other, whenever they arrive and whatever they hold', async () => {
    const lengths = fc.array(fc.constantFrom(100, 100, 100, 37), { minLength: 1, maxLength: 20 });
    const moments = fc.infiniteStream(fc.boolean());
    const property = fc.asyncProperty(lengths, moments, async (held, later) => {
      const { pages, asked, turnTo } = openList();
      const arrived = new Set<number>();
      const arriveAll = () => {
        for (const [i, { arrive }] of asked.entries()) {
          if (arrived.has(i)) continue;
          expect([...asked.keys()].filter((other) => other < i && !arrived.has(other))).toEqual([]);
          arrived.add(i);
          arrive();
        }
      };
      let offset = 0;
      for (const length of held) {
        const page = pages.take();
        arriveAll();
        for (const { answer } of asked) answer();
        expect(await page).toBe(offset);
        offset += length;
        turnTo(offset);
        if (later.next().value === true) arriveAll();
        pages.ask();
      }
      const requests = asked.length;
      expect(requests).toBeLessThanOrEqual(held.length + 3);
    });
    await fc.assert(property);
  });
});
