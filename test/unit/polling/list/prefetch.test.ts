import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPrefetch } from '../../../../src/polling/list/prefetch.ts';

/** A list of pages of a hundred, and a service that answers when the test says so. */
function openList(likelyNext: (offset: number) => number | null = (offset) => offset + 100) {
  const asked: { offset: number; arrive: () => void; answer: () => void; fail: () => void }[] = [];
  const state = { isDue: false };
  const discarded: number[] = [];
  const pages = createPrefetch<number>({
    inBetween: { isDue: () => state.isDue },
    discard: (answer) => void discarded.push(answer),
    fetch: (at, onArrival) =>
      new Promise((resolve, reject) => {
        const fail = () => reject(new Error(`no page at ${at}`));
        asked.push({ offset: at, arrive: onArrival, answer: () => resolve(at), fail });
      }),
  });
  const expectPage = (offset: number) => pages.expect(offset, likelyNext(offset));
  expectPage(0);
  return { pages, asked, state, discarded, offsets: () => asked.map((each) => each.offset), expectPage };
}

describe('the pages of a list', () => {
  it('are asked for as soon as the one before has arrived, and not before', async () => {
    const { pages, asked, offsets, expectPage } = openList();
    const first = pages.answer();
    expect(offsets()).toEqual([0]);
    asked[0]?.arrive();
    expect(offsets()).toEqual([0, 100]);
    asked[0]?.answer();
    expect(await first).toBe(0);
    expectPage(100);
    expect(pages.isRequested()).toBe(true);
    pages.request();
    expect(offsets()).toEqual([0, 100]);
  });

  it('wait while one has arrived that is not expected yet', () => {
    const { pages, asked, offsets, expectPage } = openList();
    void pages.answer();
    asked[0]?.arrive();
    asked[1]?.arrive();
    expect(offsets()).toEqual([0, 100]);
    expectPage(100);
    expect(offsets()).toEqual([0, 100, 200]);
  });

  it('are asked for in turn where it is not known what follows', () => {
    const { pages, asked, offsets, expectPage } = openList(() => null);
    void pages.answer();
    asked[0]?.arrive();
    expectPage(100);
    expect(pages.isRequested()).toBe(false);
    expect(offsets()).toEqual([0]);
    pages.request();
    expect(offsets()).toEqual([0, 100]);
  });

  it('are not requested on a prediction while a poll in between is due', () => {
    const { pages, asked, offsets, state } = openList();
    void pages.answer();
    state.isDue = true;
    asked[0]?.arrive();
    expect(offsets()).toEqual([0]);
  });

  it('that turn out to be others are asked for, and from then on none too early', async () => {
    const { pages, asked, offsets, expectPage } = openList();
    void pages.answer();
    asked[0]?.arrive();
    expectPage(50);
    expect(pages.isRequested()).toBe(false);
    const second = pages.answer();
    expect(offsets()).toEqual([0, 100, 50]);
    asked[2]?.arrive();
    expect(offsets()).toEqual([0, 100, 50]);
    asked[1]?.answer();
    asked[2]?.answer();
    expect(await second).toBe(50);
  });

  it('are asked for again behind one that had to be read again', async () => {
    const { pages, asked, offsets, expectPage } = openList();
    void pages.answer();
    asked[0]?.arrive();
    asked[0]?.arrive();
    expectPage(100);
    expect(pages.isRequested()).toBe(false);
    const second = pages.answer();
    expect(offsets()).toEqual([0, 100, 100]);
    asked[2]?.answer();
    expect(await second).toBe(100);
  });

  it('leave no request behind', async () => {
    const { pages, asked } = openList();
    void pages.answer();
    asked[0]?.arrive();
    let settled = false;
    const settling = pages.settled().then(() => (settled = true));
    await new Promise(setImmediate);
    expect(settled).toBe(false);
    asked[1]?.answer();
    await settling;
  });

  it('fail where they are awaited, however long the work on the page before takes', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => void unhandled.push(error);
    process.on('unhandledRejection', note);
    const { pages, asked, expectPage } = openList();
    void pages.answer();
    asked[0]?.arrive();
    expectPage(100);
    pages.request();
    asked[1]?.fail();
    // Node reports a rejection before the next turn.
    await new Promise(setImmediate);
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
    await expect(pages.answer()).rejects.toThrow('no page at 100');
  });

  it('come one after the other, whenever they arrive and whatever they hold', async () => {
    const lengths = fc.array(fc.constantFrom(100, 100, 100, 37), { minLength: 1, maxLength: 20 });
    const moments = fc.infiniteStream(fc.boolean());
    const property = fc.asyncProperty(lengths, moments, async (held, later) => {
      const { pages, asked, expectPage } = openList();
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
        const page = pages.answer();
        arriveAll();
        for (const { answer } of asked) answer();
        expect(await page).toBe(offset);
        offset += length;
        expectPage(offset);
        if (later.next().value === true) arriveAll();
        pages.request();
      }
      const requests = asked.length;
      expect(requests).toBeLessThanOrEqual(held.length + 3);
    });
    await fc.assert(property);
  });
});
