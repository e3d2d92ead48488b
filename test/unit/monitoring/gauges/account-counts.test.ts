import { beforeEach, expect, test } from 'vitest';
import { createAccountCounts, type AccountCounts } from '../../../../src/monitoring/gauges/account-counts.ts';

let now = 0;
let counts: AccountCounts;
beforeEach(() => {
  now = 1;
  counts = createAccountCounts(() => now);
});

const statuses = ['PAID', 'REJECTED'];
const worst = (max = 2) =>
  counts.samples('worst', ['REJECTED'], max).map(({ account, value }) => `${account} ${value}`);
const all = () =>
  counts.samples('all', statuses, 0).map(({ account, label, value }) => `${account} ${label} ${value}`);

test('where all are named, each account has each label from the first scrape on', () => {
  counts.add('a', 'REJECTED');
  counts.add('a', 'removed', 3);
  counts.keep(new Set(['a', 'b']));
  expect(all().toSorted()).toEqual(['a PAID 0', 'a REJECTED 1', 'a removed 3', 'b PAID 0', 'b REJECTED 0']);
});

test('beside the worst, a series begins with its former count and has the new one after two minutes', () => {
  counts.keep(new Set(['a', 'b', 'c']));
  counts.add('a', 'REJECTED', 2);
  counts.add('a', 'PAID', 5);
  expect(worst()).toEqual(['a 0']);
  now += 119_999;
  expect(worst()).toEqual(['a 0']);
  now += 1;
  expect(worst()).toEqual(['a 2']);
});

test('those that were added to last have series, and one that comes back goes on from its last value', () => {
  counts.keep(new Set(['a', 'b', 'c']));
  for (const account of ['a', 'b']) {
    now += 1;
    counts.add(account, 'REJECTED');
    worst();
  }
  now += 120_000;
  expect(worst()).toEqual(['b 1', 'a 1']);
  counts.add('c', 'REJECTED');
  expect(worst()).toEqual(['c 0', 'b 1']);
  now += 1;
  counts.add('a', 'REJECTED', 4);
  expect(worst()).toEqual(['a 1', 'c 0']);
  now += 120_000;
  expect(worst()).toEqual(['a 5', 'c 1']);
});

test('an account that was gone before it was known keeps its series for ten minutes, and no longer', () => {
  counts.add('created_since', 'PAID');
  counts.add('gone', 'PAID');
  const known = new Set(['a']);
  counts.keep(known);
  now += 599_999;
  counts.add('created_since', 'PAID');
  counts.keep(known);
  expect(all()).toContain('gone PAID 1');
  now += 1;
  counts.keep(known);
  expect(all().filter((series) => !series.startsWith('a '))).toEqual(['created_since PAID 2']);
});

test('a series that was shown among all goes on beside the worst', () => {
  counts.keep(new Set(['a']));
  counts.add('a', 'REJECTED', 3);
  all();
  counts.add('a', 'REJECTED');
  expect(worst()).toEqual(['a 3']);
});

test('the counts go with their account, and not before it is known', () => {
  counts.add('new', 'REJECTED');
  counts.keep(new Set(['old']));
  counts.add('old', 'REJECTED');
  counts.keep(new Set(['new']));
  expect(all()).toEqual(['new REJECTED 1', 'new PAID 0']);
});
