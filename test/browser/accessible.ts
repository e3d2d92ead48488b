import axe from 'axe-core';
import { expect } from 'vitest';
import type { WatchedPage } from './watched-page.ts';

/** Fails with what axe finds on the page as it is shown now. */
export async function expectAccessible({ page }: WatchedPage): Promise<void> {
  await page.evaluate(axe.source);
  const violations = await page.evaluate<
    string[]
  >(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.flatMap(({ id, impact, nodes }) => nodes.map(({ html, failureSummary }) => [impact, id, html, failureSummary].join(': '))))`);
  expect(violations).toEqual([]);
}
