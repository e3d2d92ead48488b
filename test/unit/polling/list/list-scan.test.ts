import { describe, expect, it } from 'vitest';
import { parsePage } from '../../../../src/partner/filing-schema.ts';
import type { PageAnswer } from '../../../../src/partner/partner-client.ts';
import { createIdSet } from '../../../../src/polling/list/id-set.ts';
import { scanList } from '../../../../src/polling/list/list-scan.ts';

/** A list of two pages of a hundred, and a service that answers when the test says so. */
function openList() {
  const asked: { offset: number; answer: () => void; fail: (error: Error) => void }[] = [];
  const released: number[] = [];
  const pageAt = (offset: number): PageAnswer => {
    const items = Array.from({ length: 100 }, (_, i) => ({ id: `f${offset + i}`, status: 'PAID' }));
    const page = parsePage(() => JSON.stringify({ items, total: 200, offset, limit: 100 }));
    if (page === null) throw new Error('not a page');
    return { page, span: { start: 0, end: 1 }, bytes: 1, release: () => void released.push(offset) };
  };
  const deps = {
    listing: {
      listFilings: ({ offset }: { readonly offset: number }) =>
        new Promise<PageAnswer>((resolve, fail) => {
          asked.push({ offset, answer: () => resolve(pageAt(offset)), fail });
        }),
    },
    shown: createIdSet(),
    part: 1,
    signal: new AbortController().signal,
  };
  return { pages: scanList(deps, {}).pages(), asked, released };
}

const turn = () => new Promise(setImmediate);

describe('the next page of a list', () => {
  it('is requested while the one before is compared, never two at once', async () => {
    const { pages, asked } = openList();
    const first = pages.next();
    await turn();
    expect(asked.map(({ offset }) => offset)).toEqual([0]);
    asked[0]?.answer();
    await first;
    expect(asked.map(({ offset }) => offset)).toEqual([0, 100]);
    asked[1]?.answer();
    await turn();
    expect(asked).toHaveLength(2);
  });

  it('is given back when the reader stops', async () => {
    const { pages, asked, released } = openList();
    const first = pages.next();
    asked[0]?.answer();
    await first;
    let hasStopped = false;
    const stopping = pages.return().then(() => (hasStopped = true));
    await turn();
    expect(hasStopped).toBe(false);
    asked[1]?.answer();
    await stopping;
    expect(released).toEqual([100]);
  });

  it('fails where it is awaited, however long the work on the page before takes', async () => {
    const unhandled: unknown[] = [];
    const note = (error: unknown) => void unhandled.push(error);
    process.on('unhandledRejection', note);
    const { pages, asked } = openList();
    const first = pages.next();
    asked[0]?.answer();
    await first;
    asked[1]?.fail(new Error('no page at 100'));
    // Node reports a rejection before the next turn.
    await turn();
    process.off('unhandledRejection', note);
    expect(unhandled).toEqual([]);
    await expect(pages.next()).rejects.toThrow('no page at 100');
  });
});
