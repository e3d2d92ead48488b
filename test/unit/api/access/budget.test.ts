import { expect, test } from 'vitest';
import { createBudgets } from '../../../../src/api/access/budget.ts';

function budgetsAt(burst: number, perSecond: number) {
  const clock = { now: 0 };
  return { clock, budgets: createBudgets({ burst, perSecond }, () => clock.now) };
}

test('a holder may ask while a point is left, and waits for the next one then', () => {
  const { clock, budgets } = budgetsAt(3, 10);
  for (let i = 0; i < 3; i += 1) {
    expect(budgets.waitMs('a')).toBe(0);
    budgets.charge('a', 1);
  }
  expect(budgets.waitMs('a')).toBe(100);
  clock.now = 99;
  expect(budgets.waitMs('a')).toBe(1);
  clock.now = 100;
  expect([budgets.waitMs('a'), budgets.waitMs('b')]).toEqual([0, 0]);
});

test('a request that costs more than is left is paid off by waiting', () => {
  const { clock, budgets } = budgetsAt(10, 10);
  budgets.charge('a', 30);
  expect(budgets.waitMs('a')).toBe(2_100);
  clock.now = 2_100;
  expect(budgets.waitMs('a')).toBe(0);
});

test('nobody waits for more than a minute, and waiting saves up no more than the burst', () => {
  const { clock, budgets } = budgetsAt(10, 1);
  budgets.charge('a', 1_000_000);
  budgets.charge('a', 1_000_000);
  expect(budgets.waitMs('a')).toBe(60_000);
  clock.now = 10_000_000;
  for (let i = 0; i < 10; i += 1) budgets.charge('a', 1);
  expect(budgets.waitMs('a')).toBe(1_000);
});
