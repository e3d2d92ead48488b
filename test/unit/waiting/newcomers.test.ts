import { expect, test, vi } from 'vitest';
import { createNewcomers, type Ended } from '../../../src/waiting/newcomers.ts';

function createRig() {
  vi.useFakeTimers();
  const begun: number[] = [];
  const pace = createNewcomers({ max: 150 });
  const ends = new Map<number, Ended>();
  const begin = (name: number, count: number) =>
    void pace.begin(count).then((ended) => {
      begun.push(name);
      ends.set(name, ended);
    });
  const end = (name: number, count: number) => ends.get(name)?.(count);
  return { begun, begin, end, [Symbol.dispose]: () => void vi.useRealTimers() };
}

test('slices begin until enough of their drains are new, then as drains end', async () => {
  using rig = createRig();
  for (const name of [1, 2, 3, 4, 5]) rig.begin(name, 50);
  await vi.advanceTimersByTimeAsync(0);
  expect(rig.begun).toEqual([1, 2, 3]);
  rig.end(1, 1);
  await vi.advanceTimersByTimeAsync(0);
  expect(rig.begun).toEqual([1, 2, 3, 4]);
  rig.end(1, 49);
  rig.end(2, 11);
  await vi.advanceTimersByTimeAsync(0);
  expect(rig.begun).toEqual([1, 2, 3, 4, 5]);
});

test('drains that hang let others begin after a moment, and count no more when they end', async () => {
  using rig = createRig();
  for (const name of [1, 2]) rig.begin(name, 250);
  await vi.advanceTimersByTimeAsync(30);
  expect(rig.begun).toEqual([1]);
  await vi.advanceTimersByTimeAsync(30);
  expect(rig.begun).toEqual([1, 2]);
  await vi.advanceTimersByTimeAsync(80);
  for (const name of [3, 4]) rig.begin(name, 250);
  for (const name of [1, 2]) rig.end(name, 250);
  await vi.advanceTimersByTimeAsync(0);
  expect(rig.begun).toEqual([1, 2, 3]);
});

test('owners begin by turns, whoever asked for more', async () => {
  vi.useFakeTimers();
  try {
    const { begin } = createNewcomers({ max: 1 });
    const begun: string[] = [];
    let end: Ended = () => undefined;
    for (const name of ['a1', 'a2', 'a3', 'b1', 'a4', 'b2'])
      void begin(1, name.slice(0, 1)).then((ended) => {
        begun.push(name);
        end = ended;
      });
    for (let i = 0; i < 5; i += 1) {
      await vi.advanceTimersByTimeAsync(0);
      end(1);
    }
    await vi.advanceTimersByTimeAsync(0);
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'b2', 'a4']);
  } finally {
    vi.useRealTimers();
  }
});
