import { expect, test } from 'vitest';
import { createGaugeCollector } from '../../../../src/monitoring/gauges/gauge-collector.ts';

/** Collections that end when they are told to. */
function createCollections(times = { freshMs: 20, budgetMs: 5_000 }) {
  const open: PromiseWithResolvers<void>[] = [];
  let late = 0;
  const collector = createGaugeCollector(
    () => {
      const collection = Promise.withResolvers<void>();
      open.push(collection);
      return collection.promise;
    },
    () => (late += 1),
    times,
  );
  return { collector, open, late: () => late };
}

test('all who ask at the same time share one collection', async () => {
  const { collector, open } = createCollections();
  const asked = Array.from({ length: 50 }, () => collector.collect());
  expect(open).toHaveLength(1);
  open[0]?.resolve();
  await Promise.all(asked);
  await collector.collect();
  expect(open).toHaveLength(1);
});

test('a collection that fails fails for all who waited for it, and is tried again later', async () => {
  const { collector, open } = createCollections();
  const asked = [collector.collect(), collector.collect()];
  open[0]?.reject(new Error('Redis is away'));
  const settled = await Promise.allSettled(asked);
  expect(settled.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await expect
    .poll(() => {
      collector.collect().catch(() => undefined);
      return open.length;
    })
    .toBe(2);
  open[1]?.resolve();
});

test('a collection over its budget goes on alone, and none of those who ask waits for its end', async () => {
  const { collector, open, late } = createCollections({ freshMs: 20, budgetMs: 30 });
  await collector.collect();
  await collector.collect();
  expect(open).toHaveLength(1);
  expect(late()).toBe(2);
  open[0]?.resolve();
});
