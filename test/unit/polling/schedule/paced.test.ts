import { afterEach, expect, test, vi } from 'vitest';
import { createPaced } from '../../../../src/polling/schedule/paced.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('an account is worked for with the first call, and again once the time since the last one is over', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const seen: string[] = [];
  const paced = createPaced(3_000, async (account) => seen.push(account));
  const rounds: string[][] = [];
  for (const laterMs of [0, 2_999, 1, 3_000]) {
    vi.advanceTimersByTime(laterMs);
    await paced('a');
    await paced('b');
    rounds.push(seen.splice(0));
  }
  expect(rounds).toEqual([['a', 'b'], [], ['a', 'b'], ['a', 'b']]);
});

test('work that failed is done again with the next call', async () => {
  let calls = 0;
  const paced = createPaced(3_000, async () => {
    calls += 1;
    if (calls === 1) throw new Error('no connection');
  });
  await expect(paced('a')).rejects.toThrow('no connection');
  await paced('a');
  await paced('a');
  expect(calls).toBe(2);
});
