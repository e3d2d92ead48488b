import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { drainSlice, type EndedDrain } from '../../../../src/delivery/slices/drain-slice.ts';

const failed = () => ({ wakeAt: 7 });
const left = () => undefined;

test('drains that have ended are concluded while another hangs, those that failed too', async () => {
  const hangs = Promise.withResolvers<{ wakeAt: null }>();
  const concluded: EndedDrain[] = [];
  const both = Promise.withResolvers<void>();
  const drained = drainSlice(['a', 'hangs', 'fails'], {
    drain(subscription) {
      if (subscription === 'hangs') return hangs.promise;
      return subscription === 'fails' ? Promise.reject(new Error('no')) : Promise.resolve({ wakeAt: null });
    },
    failed,
    left,
    async conclude(ended) {
      concluded.push(...ended);
      if (concluded.length === 2) both.resolve();
    },
  });
  await both.promise;
  expect(concluded).toEqual([
    { subscription: 'a', wakeAt: null, hasFailed: false },
    { subscription: 'fails', wakeAt: 7, hasFailed: true },
  ]);
  hangs.resolve({ wakeAt: null });
  await drained;
  expect(concluded.at(-1)?.subscription).toBe('hangs');
});

test('what could not be concluded is concluded again while another hangs, as due, and counts once', async () => {
  const hangs = Promise.withResolvers<{ wakeAt: null }>();
  const again = Promise.withResolvers<readonly EndedDrain[]>();
  let [tries, count] = [0, 0];
  const drained = drainSlice(['a', 'hangs'], {
    drain: (subscription) => (subscription === 'a' ? Promise.resolve({ wakeAt: null }) : hangs.promise),
    failed,
    left: () => (count += 1),
    async conclude(ended) {
      tries += 1;
      if (tries === 1) throw new Error('Redis is away');
      again.resolve(ended);
    },
  });
  expect(await again.promise).toEqual([{ subscription: 'a', wakeAt: 0, hasFailed: false }]);
  expect(count).toBe(1);
  hangs.resolve({ wakeAt: null });
  await drained;
  expect(count).toBe(2);
});

test('a drain counts as ended at once, whenever it is concluded', async () => {
  const hangs = Promise.withResolvers<{ wakeAt: null }>();
  let count = 0;
  const drained = drainSlice(['a', 'hangs'], {
    drain: (subscription) => (subscription === 'a' ? Promise.resolve({ wakeAt: null }) : hangs.promise),
    failed,
    left: () => (count += 1),
    conclude: () => Promise.resolve(),
  });
  await setImmediate();
  expect(count).toBe(1);
  hangs.resolve({ wakeAt: null });
  await drained;
  expect(count).toBe(2);
});

test('a conclusion that fails once all have ended is the result', async () => {
  const drained = drainSlice(['a', 'b'], {
    drain: () => Promise.resolve({ wakeAt: null }),
    failed,
    left,
    conclude: () => Promise.reject(new Error('Redis is away')),
  });
  await expect(drained).rejects.toThrow('Redis is away');
});
