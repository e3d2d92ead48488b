import { expect, test } from 'vitest';
import { createReadOnlyPace } from '../../../../src/redis/connection/open-client.ts';

const refusal = new Error("READONLY You can't write against a read only replica.");

function paceAt() {
  const clock = { ms: 0 };
  const givesUp = createReadOnlyPace(() => clock.ms);
  const after = (ms: number): boolean => {
    clock.ms += ms;
    return givesUp(refusal);
  };
  return { givesUp, after };
}

test('the first refused write gives its connection up at once, and no other error does', () => {
  const { givesUp, after } = paceAt();
  expect(givesUp(new Error('OOM command not allowed'))).toBe(false);
  expect(after(0)).toBe(true);
});

test('a server that stays read-only is left at growing intervals of up to five seconds', () => {
  const { after } = paceAt();
  const left: number[] = [];
  for (let ms = 0; ms < 30_000; ms += 100) if (after(100)) left.push(ms);
  expect(left).toEqual([0, 500, 1_500, 3_500, 7_500, 12_500, 17_500, 22_500, 27_500]);
});

test('another failover, half a minute without a refused write later, is followed at once', () => {
  const { after } = paceAt();
  expect([after(0), after(100), after(500), after(100)]).toEqual([true, false, true, false]);
  expect([after(30_001), after(100), after(400)]).toEqual([true, false, true]);
});
