import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { createRequestBudget } from '../../../src/partner/request-budget.ts';

const requests = 300;

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as (options: { type: 'major' | 'minor' }) => void;

function oldBytes(): number {
  return getHeapSpaceStatistics()
    .filter((space) => ['old_space', 'large_object_space'].includes(space.space_name))
    .reduce((sum, space) => sum + space.space_used_size, 0);
}

// About 100 KB, of which nothing is shared.
function page(): unknown {
  return Array.from({ length: 1_000 }, (_, i) => ({ id: i, text: [i, i] }));
}

it('requests that overlap keep no former page from being collected young', async () => {
  const budget = createRequestBudget({ maxRps: 100_000, concurrency: 4 });
  const { signal } = new AbortController();
  let before = 0;
  let former: { readonly end: () => void; readonly spent: Promise<unknown> } | null = null;
  for (let i = 0; i < requests; i += 1) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const spent = budget.spend(() => promise.then(page), signal).then(() => undefined);
    await new Promise(setImmediate);
    former?.end();
    await former?.spent;
    former = { end: resolve, spent };
    // What is under way at that moment grows old with all that it leads to.
    if (i === 20) {
      collect({ type: 'major' });
      before = oldBytes();
    }
    if (i > 20 && i % 10 === 0) collect({ type: 'minor' });
  }
  former?.end();
  await former?.spent;
  collect({ type: 'minor' });
  expect(oldBytes() - before).toBeLessThan(4 * 1024 * 1024);
});
