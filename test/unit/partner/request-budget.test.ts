import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Verdict } from '../../../src/partner/pace.ts';
import { createRequestBudget, type RequestBudget } from '../../../src/partner/request-budget.ts';

const never = new AbortController().signal;

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] }));
afterEach(() => void vi.useRealTimers());

async function settle(ms = 0): Promise<void> {
  // p-queue needs a few turns of the microtask queue between its steps.
  for (let turn = 0; turn < 20; turn += 1) await vi.advanceTimersByTimeAsync(turn === 0 ? ms : 0);
}

async function told(budget: RequestBudget, ...verdicts: Verdict[]): Promise<void> {
  const spent = budget.spend(async (report) => verdicts.forEach(report), never);
  await settle();
  await spent;
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
    await told(budget, 'trouble', 'trouble');
    expect(budget.pace().share).toBe(0.5);
    await settle(1_100);
    await told(budget, 'trouble');
    expect(budget.pace().share).toBe(0.25);
    await settle(2_100);
    const starts: number[] = [];
    for (let i = 0; i < 3; i += 1) void budget.spend(async () => void starts.push(performance.now()), never);
    await settle(10);
    expect(starts).toHaveLength(2);
    await settle(2_100);
    await told(budget, ...Array<Verdict>(24).fill('fine'));
    expect(budget.pace().share).toBe(1);
  });

  it('keeps to what was accepted when more is refused', async () => {
    const budget = createRequestBudget({ maxRps: 10, concurrency: 4 });
    const verdicts: Verdict[] = ['fine', 'fine', 'fine', 'fine', 'fine', 'fine', 'refused', 'refused'];
    const all = Promise.all(
      verdicts.map((verdict) => budget.spend(async (report) => report(verdict), never)),
    );
    await settle();
    await all;
    expect(budget.pace()).toMatchObject({ acceptedRps: 6, refusedInARow: 1 });
    await settle(1_100);
    let started = 0;
    for (let i = 0; i < 10; i += 1) void budget.spend(async () => void (started += 1), never);
    await settle(500);
    expect(started).toBe(6);
  });

  it('lets nothing start while it rests, and a request that waits go at once when it is aborted', async () => {
    const budget = createRequestBudget({ maxRps: 10, concurrency: 4 });
    const stop = new AbortController();
    const work = vi.fn<() => Promise<void>>(async () => undefined);
    budget.rest(60_000);
    budget.rest(1_000);
    const waiting = budget.spend(work, stop.signal).catch(() => 'let go');
    await settle(59_000);
    stop.abort();
    expect(await waiting).toBe('let go');
    expect(work).not.toHaveBeenCalled();
    await settle(1_000);
    await budget.spend(work, never);
    expect(work).toHaveBeenCalledTimes(1);
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

  it('starts nothing for a signal that has aborted', async () => {
    const budget = createRequestBudget({ maxRps: 1, concurrency: 1 });
    const work = vi.fn<() => Promise<void>>(async () => undefined);
    await expect(budget.spend(work, AbortSignal.abort())).rejects.toThrow('aborted');
    await budget.spend(work, never);
    expect(work).toHaveBeenCalledTimes(1);
  });

  it('counts a request that waits for its turn at the host, and measures the wait', async () => {
    const turns: (() => void)[] = [];
    const urgencies: string[] = [];
    const turn = (urgency: string) => {
      urgencies.push(urgency);
      return new Promise<void>((resolve) => void turns.push(resolve));
    };
    const budget = createRequestBudget({ maxRps: 2, concurrency: 8 }, turn);
    const starts: number[] = [];
    const start = async () => void starts.push(Math.round(performance.now()));
    const from = performance.now();
    for (let i = 0; i < 4; i += 1) void budget.spend(start, never, 'change');
    await settle(5_000);
    expect([starts, urgencies]).toEqual([[], ['change', 'change']]);
    for (const go of turns) go();
    await settle();
    expect(starts).toHaveLength(2);
    expect(Math.round(budget.waitedForTurnMs())).toBe(Math.round(performance.now() - from));
    // The next one comes a second after them, not after they were asked for.
    await settle(900);
    void budget.spend(start, never);
    await settle();
    expect(turns).toHaveLength(2);
    await settle(200);
    void budget.spend(start, never);
    await settle();
    expect(turns).toHaveLength(3);
  });

  it('counts no wait of a sweep, beside which polls go on', async () => {
    const budget = createRequestBudget({ maxRps: 2, concurrency: 8 }, () => new Promise(() => {}));
    void budget.spend(() => Promise.resolve(), never, 'sweep');
    await settle(5_000);
    expect(budget.waitedForTurnMs()).toBe(0);
  });

  it('asks for another turn when the service has asked for a rest meanwhile', async () => {
    vi.useRealTimers();
    const asked: number[] = [];
    const budget = createRequestBudget({ maxRps: 10, concurrency: 4 }, async () => {
      asked.push(performance.now());
      if (asked.length === 1) budget.rest(50);
    });
    await budget.spend(async () => undefined, never);
    const [first = 0, second = 0] = asked;
    expect(second - first).toBeGreaterThanOrEqual(49);
  });
});
