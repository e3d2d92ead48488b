import { expect, test } from 'vitest';
import { whoFreesMemory, type Held } from '../../../../src/api/connections/answer-deadlines.ts';

const held = (of: string, holder: string, bytes: number, waitedMs = 5_000): Held<string> => ({
  of,
  holder,
  bytes,
  waitedMs,
});

test('nothing ends while all together hold no more than they may', () => {
  expect(whoFreesMemory([held('a', 'one', 60), held('b', 'two', 40)], 100)).toEqual([]);
});

test('the holder with the most frees memory, not the one with the largest answer', () => {
  const all = [held('large', 'one', 50), held('a', 'evil', 30), held('b', 'evil', 30, 9_000)];
  expect(whoFreesMemory(all, 100)).toEqual(['b']);
});

test('clients that take their answers well stay, and so do shared answers', () => {
  const all = [held('fast', 'evil', 500, 0), held('shared', 'evil', 0), held('slow', 'one', 10)];
  expect(whoFreesMemory(all, 100)).toEqual(['slow']);
});
