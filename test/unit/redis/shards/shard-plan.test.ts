import { describe, expect, test } from 'vitest';
import {
  advancePlan,
  announceMs,
  parsePlan,
  planAt,
  steadyPlan,
} from '../../../../src/redis/shards/shard-plan.ts';

const settleMs = 60_000;
const wanted = { ...steadyPlan(1), wanted: 4 };
const announced = advancePlan(wanted, 1_000, settleMs);
const changed = planAt(announced, 1_000 + announceMs);

test('a steady plan has no next step', () => {
  const plan = steadyPlan(4);
  expect(advancePlan(plan, 5, settleMs)).toBe(plan);
});

test('another number is announced, and its shards are worked on from then', () => {
  expect(announced).toMatchObject({ number: 1, next: 4, nextAt: 1_000 + announceMs, highest: 4 });
  expect(planAt(announced, 999 + announceMs)).toBe(announced);
  expect(advancePlan(announced, 2_000, settleMs)).toBe(announced);
});

test('it comes in force by itself, beside the former one', () => {
  expect(changed).toMatchObject({
    number: 4,
    former: 1,
    since: 1_000 + announceMs,
    moved: false,
    next: null,
  });
});

test('the former number is forgotten once schedules were moved and drains have ended, then the next is announced', () => {
  const over = changed.since + settleMs;
  expect(advancePlan(changed, over, settleMs)).toBe(changed);
  const moved = { ...changed, moved: true, wanted: 2 };
  expect(advancePlan(moved, over - 1, settleMs)).toBe(moved);
  const settled = advancePlan(moved, over, settleMs);
  expect(settled).toMatchObject({ number: 4, former: null, next: null });
  expect(advancePlan(settled, over, settleMs)).toMatchObject({ number: 4, next: 2, highest: 4 });
});

test("a wait begins anew when Redis's clock was set back", () => {
  expect(advancePlan(announced, -50_000, settleMs)).toMatchObject({ nextAt: announceMs - 50_000 });
  expect(advancePlan(changed, 100, settleMs)).toMatchObject({ since: 100, former: 1 });
});

describe('a stored plan', () => {
  test('is read as it was written', () => {
    for (const plan of [steadyPlan(1), wanted, announced, changed])
      expect(parsePlan(JSON.stringify(plan))).toEqual(plan);
  });

  test.each([null, '', 'text', 'null', '[]', '{}', '{"number":0}', '{"number":65}', '{"number":1.5}'])(
    '%j is none',
    (text) => {
      expect(parsePlan(text)).toBeNull();
    },
  );
});
