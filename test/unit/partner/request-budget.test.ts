import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createRequestBudget } from '../../../src/partner/request-budget.ts';

const never = new AbortController().signal;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] }));
afterEach(() => void vi.useRealTimers());

async function settle(ms = 0): Promise<void> {
  // p-queue needs a few turns of the microtask queue between its steps.
  for (let turn = 0; turn < 20; turn += 1) await vi.advanceTimersByTimeAsync(turn === 0 ? ms : 0);
}

describe('a request budget', () => {
  it('runs no more than so many at once', async () => {
    const budget = createRequestBudget({ maxRps: 1000, concurrency: 3 });
    let running = 0;
    let most = 0;
    const work = async () => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((done) => setTimeout(done, 10));
      running -= 1;
    };
    const all = Promise.all(Array.from({ length: 20 }, () => budget.spend(work, never)));
    for (let i = 0; i < 20; i += 1) await settle(10);
    await all;
    expect(most).toBe(3);
  });

  it('slows down in trouble, once a second at the most, and recovers with every answer', async () => {
    const budget = createRequestBudget({ maxRps: 10, concurrency: 4 });
    budget.report('trouble');
    budget.report('trouble');
    expect(budget.pace()).toBe(0.5);
    await settle(1_100);
    budget.report('trouble');
    expect(budget.pace()).toBe(0.25);
    const starts: number[] = [];
    for (let i = 0; i < 3; i += 1) void budget.spend(async () => void starts.push(performance.now()), never);
    await settle(10);
    expect(starts).toHaveLength(2);
    for (let i = 0; i < 24; i += 1) budget.report('fine');
    expect(budget.pace()).toBe(1);
  });

  it('lets a waiting request go when it is aborted', async () => {
    const budget = createRequestBudget({ maxRps: 1, concurrency: 1 });
    const stop = new AbortController();
    await budget.spend(async () => undefined, never);
    const work = vi.fn<() => Promise<void>>();
    const waiting = [budget.spend(work, stop.signal), budget.spend(work, stop.signal)].map((each) =>
      each.catch(() => 'let go'),
    );
    await settle(10);
    stop.abort();
    expect(await Promise.all(waiting)).toEqual(['let go', 'let go']);
    expect(work).not.toHaveBeenCalled();
  });
});
