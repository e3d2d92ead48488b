import { expect, it } from 'vitest';
import { allEnded } from '../../../src/waiting/all-ended.ts';

it('gives all results in order', async () => {
  expect(await allEnded([Promise.resolve(1), Promise.resolve('two')])).toEqual([1, 'two']);
});

it('fails only once nothing goes on any more, with the first failure in order', async () => {
  const slow = Promise.withResolvers<void>();
  let over = false;
  const all = allEnded([slow.promise, Promise.reject(new Error('second'))]).finally(() => {
    over = true;
  });
  const failure = all.catch((error: unknown) => error);
  await new Promise(setImmediate);
  expect(over).toBe(false);
  slow.reject(new Error('first'));
  expect(await failure).toEqual(new Error('first'));
});
