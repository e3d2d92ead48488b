import { describe, expect, it } from 'vitest';
import { createPageWork } from '../../../../src/polling/list/page-work.ts';

const kilobyte = 1024;

/** Whether a promise has been resolved by now. */
async function isDone(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  promise.then(
    () => (done = true),
    () => undefined,
  );
  await new Promise(setImmediate);
  return done;
}

describe('the work on the pages of a list', () => {
  it('goes on for sixteen pages at once, and there is room for another as soon as one has ended', async () => {
    const work = createPageWork();
    const pages = Array.from({ length: 16 }, () => Promise.withResolvers<void>());
    const begun = pages.map(({ promise }) => work.begin(kilobyte, promise));
    expect(await Promise.all(begun.map(isDone))).toEqual([...Array<boolean>(15).fill(true), false]);
    pages[7]?.resolve();
    expect(await isDone(begun.at(-1) as Promise<void>)).toBe(true);
  });

  it('goes on for pages of two megabytes at once, and for one page however large it is', async () => {
    const work = createPageWork();
    const [large, small] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const begun = work.begin(16 * 1024 * kilobyte, large.promise);
    expect(await isDone(begun)).toBe(false);
    large.resolve();
    await begun;
    const next = work.begin(2 * 1024 * kilobyte - 1, small.promise);
    expect(await isDone(next)).toBe(true);
    small.resolve();
    await work.done();
  });

  it('is done when all of it has ended', async () => {
    const work = createPageWork();
    const pages = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await Promise.all(pages.map(({ promise }) => work.begin(kilobyte, promise)));
    const done = work.done();
    pages[1]?.resolve();
    expect(await isDone(done)).toBe(false);
    pages[0]?.resolve();
    await done;
  });

  it('fails with its first failure at once, and is settled only when the rest of it has ended', async () => {
    const work = createPageWork();
    const [going, failing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await work.begin(kilobyte, going.promise);
    await work.begin(kilobyte, failing.promise);
    const done = work.done();
    failing.reject(new Error('Redis is away'));
    await expect(done).rejects.toThrow('Redis is away');
    await expect(work.begin(kilobyte, Promise.reject(new Error('later')))).rejects.toThrow('Redis is away');
    const settled = work.settled();
    expect(await isDone(settled)).toBe(false);
    going.resolve();
    await settled;
  });
});
