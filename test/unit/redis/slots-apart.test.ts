import keySlot from 'cluster-key-slot';
import { expect, test } from 'vitest';
import { tagsApart } from '../../../src/redis/slots-apart.ts';

const accounts = Array.from({ length: 2_000 }, (_, i) => `account-${i}`);
const primaryOf = (tag: string, primaries: number) => Math.floor((keySlot(`{${tag}}`) * primaries) / 16_384);

test('an account keeps its tags from version to version', () => {
  expect(['default', 'second'].map(tagsApart)).toEqual([
    ['78', '10'],
    ['2', '89'],
  ]);
});

test.each([2, 3, 4, 5, 6, 12, 50])(
  'of %i primaries with equal ranges of slots, one without the account has a copy',
  (primaries) => {
    const together = accounts.filter((account) =>
      tagsApart(account).every((tag) => primaryOf(tag, primaries) === primaryOf(account, primaries)),
    );
    expect(together).toEqual([]);
  },
);

test('the two copies are seldom together, so that the slot of the account may move', () => {
  const together = accounts.filter((account) => {
    const [first, second] = tagsApart(account).map((tag) => primaryOf(tag, 3));
    return first === second;
  });
  expect(together.length).toBeLessThan(accounts.length / 20);
});
