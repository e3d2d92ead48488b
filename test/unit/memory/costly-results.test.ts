import { expect, test } from 'vitest';
import { createCostlyResults } from '../../../src/memory/costly-results.ts';

function stage() {
  const state = { now: 0, runs: 0 };
  const results = createCostlyResults<number>(() => state.now);
  const ask = (tookMs: number) =>
    results('key', async () => {
      state.runs += 1;
      const { runs } = state;
      await Promise.resolve();
      state.now += tookMs;
      return runs;
    });
  return { state, ask };
}

test('a cheap result is made each time', async () => {
  const { ask } = stage();
  expect([await ask(100), await ask(100), await ask(0)]).toEqual([1, 2, 3]);
});

test('a result that took long is kept for ten times as long', async () => {
  const { state, ask } = stage();
  expect(await ask(200)).toBe(1);
  state.now += 1_999;
  expect(await ask(200)).toBe(1);
  state.now += 1;
  expect(await ask(200)).toBe(2);
});

test('a failure is not kept', async () => {
  let now = 0;
  const results = createCostlyResults<number>(() => now);
  const failing = results('key', async () => {
    now += 1_000;
    throw new Error('away');
  });
  await expect(failing).rejects.toThrow('away');
  expect(await results('key', async () => 2)).toBe(2);
});
