import { expect, test } from 'vitest';
import { createAccountShares } from '../../../src/delivery/account-shares.ts';

function sharesOf(places: number) {
  const clock = { now: 0 };
  const shares = createAccountShares({ places, now: () => clock.now });
  const takeAll = (account: string) => {
    let taken = 0;
    for (; shares.waitMs(account, 1) === 0; taken += 1) shares.take(account, 1);
    return taken;
  };
  return { ...shares, clock, takeAll };
}

test('each account that wants all leaves places for those that come after it', () => {
  const { takeAll, areTaken } = sharesOf(2_000);
  expect(['a', 'b', 'c', 'd'].map(takeAll)).toEqual([1777, 198, 22, 2]);
  expect(areTaken()).toBe(false);
});

test('an account that holds none may begin, whatever the number of places', () => {
  const { waitMs, take } = sharesOf(1);
  expect(waitMs('a', 50)).toBe(0);
  take('a', 50);
  expect([waitMs('a', 1), waitMs('b', 1)]).toEqual([250, 0]);
});

test('those that wait ask again one after the other, until places of their account are free', () => {
  const { take, give, waitMs, clock } = sharesOf(20);
  take('a', 20);
  expect([1, 2, 3].map(() => waitMs('a', 1))).toEqual([250, 255, 260]);
  clock.now = 1_000;
  expect(waitMs('a', 1)).toBe(250);
  give('a', 10);
  expect(waitMs('a', 1)).toBe(0);
});
