import { expect, test, vi } from 'vitest';
import { createOpeningTurns } from '../../../../src/callbacks/connections/opening-turns.ts';

function createRig() {
  vi.useFakeTimers();
  const state = { isBusy: false };
  const turns = createOpeningTurns(() => state.isBusy);
  const opened: string[] = [];
  const ends: (() => void)[] = [];
  const wait = (place: string, account: string, name: string) =>
    turns.wait(place, account, (onOpened) => {
      if (onOpened === undefined) return;
      opened.push(name);
      ends.push(onOpened);
    });
  const end = (count = Infinity) => {
    for (const each of ends.splice(0, count)) each();
    return vi.advanceTimersByTimeAsync(0);
  };
  return { state, turns, opened, wait, end, [Symbol.dispose]: () => void vi.useRealTimers() };
}

test('32 open at once, those of one account in the order of the calls, and accounts by turns', async () => {
  using rig = createRig();
  for (let i = 0; i < 40; i += 1) rig.wait('https://a', 'many', `m${i}`);
  await vi.advanceTimersByTimeAsync(0);
  for (const name of ['f0', 'f1']) rig.wait('https://a', 'few', name);
  expect(rig.opened).toEqual(Array.from({ length: 32 }, (_, i) => `m${i}`));
  await rig.end(4);
  expect(rig.opened.slice(32)).toEqual(['m32', 'f0', 'm33', 'f1']);
});

test('a connection that becomes free goes to who waits for its place, accounts by turns', async () => {
  using rig = createRig();
  for (let i = 0; i < 32; i += 1) rig.wait('https://silent', 'a', `s${i}`);
  await vi.advanceTimersByTimeAsync(0);
  const begun: string[] = [];
  for (const name of ['a1', 'a2', 'a3', 'b1'])
    rig.turns.wait('https://a', name.slice(0, 1), () => void begun.push(name));
  expect(rig.turns.next('https://b')).toBeUndefined();
  for (let i = 0; i < 4; i += 1) rig.turns.next('https://a')?.();
  expect(rig.turns.next('https://a')).toBeUndefined();
  expect(begun).toEqual(['a1', 'b1', 'a2', 'a3']);
  // They have left the queue for turns.
  rig.wait('https://c', 'a', 'c1');
  await rig.end(1);
  expect(rig.opened.slice(32)).toEqual(['c1']);
});

test('a busy process opens none to where many become free, but goes on when these become few', async () => {
  using rig = createRig();
  const free = async (count: number, ms: number) => {
    for (let i = 0; i < count; i += 1) rig.turns.next('https://near');
    await vi.advanceTimersByTimeAsync(ms);
  };
  for (let i = 0; i < 300; i += 1) rig.wait('https://near', 'a', `n${i}`);
  await free(60, 60);
  const before = rig.opened.length;
  rig.state.isBusy = true;
  await rig.end();
  expect(rig.opened.length).toBe(before);
  // Elsewhere connections are opened meanwhile.
  rig.wait('https://far', 'a', 'far');
  await vi.advanceTimersByTimeAsync(0);
  expect(rig.opened.at(-1)).toBe('far');
  await free(60, 60);
  expect(rig.opened.at(-1)).toBe('far');
  await free(10, 120);
  expect(rig.opened.length).toBeGreaterThan(before + 30);
});

test('a process that has time opens more, however many become free', async () => {
  using rig = createRig();
  for (let i = 0; i < 200; i += 1) rig.wait('https://near', 'a', `n${i}`);
  for (let i = 0; i < 60; i += 1) rig.turns.next('https://near');
  await vi.advanceTimersByTimeAsync(60);
  const before = rig.opened.length;
  await rig.end();
  expect(rig.opened.length).toBe(before + 32);
});
