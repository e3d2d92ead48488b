import { expect, test } from 'vitest';
import { createAccountShares } from '../../../src/delivery/account-shares.ts';

function sharesOf(places: number) {
  const shares = createAccountShares(places);
  const takeAll = (account: string) => {
    let taken = 0;
    for (; shares.mayTake(account); taken += 1) shares.take(account);
    return taken;
  };
  return { ...shares, takeAll };
}

test('each account that wants all leaves places for those that come after it', () => {
  const { takeAll } = sharesOf(2_000);
  expect(['a', 'b', 'c', 'd'].map(takeAll)).toEqual([1777, 198, 22, 2]);
});

test('an account that holds none may begin, whatever the number of places', () => {
  const { mayTake, take } = sharesOf(1);
  expect(mayTake('a')).toBe(true);
  take('a');
  expect([mayTake('a'), mayTake('b')]).toEqual([false, true]);
});

test('an account that gives places back may take some again', () => {
  const { takeAll, give, mayTake } = sharesOf(20);
  expect([takeAll('a'), mayTake('a')]).toEqual([17, false]);
  for (let i = 0; i < 5; i += 1) give('a');
  expect(takeAll('a')).toBe(5);
});
