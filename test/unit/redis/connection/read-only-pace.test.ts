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

test('a server that stays read-only is left at most twice a second', () => {
  const { after } = paceAt();
  const left: number[] = [];
  for (let ms = 0; ms < 2_000; ms += 100) if (after(100)) left.push(ms);
  expect(left).toEqual([0, 500, 1_000, 1_500]);
});
