import { expect, test } from 'vitest';
import { createRequestCost } from '../../../../src/api/access/cost.ts';

test.each([
  [[], 0],
  [[0.2, 0.3], 0],
  [[0.5, 0.5], 0],
  [[0.5, 2], 1.5],
  [[3, 0.5, 0.25], 2.75],
])('parts of %j are charged beyond the point of the request: %d', (parts, beyond) => {
  let charged = 0;
  const debit = (points: number) => {
    charged += points;
  };
  const cost = createRequestCost(debit, () => 0);
  for (const part of parts) cost.add(part);
  expect(charged).toBe(beyond);
});
