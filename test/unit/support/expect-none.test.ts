import { expect, it } from 'vitest';
import { expectNone } from '../../support/expect-none.ts';

const isOdd = (n: number) => n % 2 === 1;

it('a list in which one is so fails, and so does an empty one', () => {
  expect(() => expectNone([2, 3], isOdd, 'numbers')).toThrow(/numbers/);
  expect(() => expectNone([], isOdd, 'numbers')).toThrow(/number of numbers/);
  expect(() => expectNone([2, 4], isOdd, 'numbers')).not.toThrow();
});
