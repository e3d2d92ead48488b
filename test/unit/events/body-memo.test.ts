import { expect, test } from 'vitest';
import { createBodyMemo } from '../../../src/events/body-memo.ts';

const heavy = (text: string) => Buffer.from(`${'h'.repeat(9_000)}${text}`);

function counted() {
  const made: Buffer[] = [];
  const memo = createBodyMemo((body) => made.push(body));
  return { made, memo };
}

test('something is made of a heavy body once, whichever copy of it is asked about', () => {
  const { made, memo } = counted();
  expect([memo(heavy('a')), memo(heavy('a')), memo(heavy('a'))]).toEqual([1, 1, 1]);
  expect(made).toHaveLength(1);
});

test('bodies that begin alike and are not the same are told apart', () => {
  const { memo } = counted();
  expect([memo(heavy('a')), memo(heavy('b')), memo(heavy('a'))]).toEqual([1, 2, 3]);
});

test('no more than 4 MiB of bodies are kept', () => {
  const { made, memo } = counted();
  const large = (i: number) => Buffer.from(`${i}${'x'.repeat(1024 * 1024)}`);
  for (const i of [0, 1, 2, 3, 4, 5, 0]) memo(large(i));
  expect(made).toHaveLength(7);
  memo(large(5));
  expect(made).toHaveLength(7);
});
