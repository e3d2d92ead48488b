import { expect, test } from 'vitest';
import { drainSlice, type EndedDrain } from '../../../../src/delivery/slices/drain-slice.ts';

const failed = () => ({ wakeAt: 7 });

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
    async conclude(ended) {
      concluded.push(...ended);
      if (concluded.length === 2) both.resolve();
    },
  });
  await both.promise;
  expect(concluded).toEqual([
    { subscription: 'a', wakeAt: null },
    { subscription: 'fails', wakeAt: 7 },
  ]);
  hangs.resolve({ wakeAt: null });
  await drained;
  expect(concluded.at(-1)?.subscription).toBe('hangs');
});

test('a conclusion that fails is the result once all have ended', async () => {
  const hangs = Promise.withResolvers<{ wakeAt: null }>();
  let result: unknown = null;
  const drained = drainSlice(['a', 'hangs'], {
    drain: (subscription) => (subscription === 'a' ? Promise.resolve({ wakeAt: null }) : hangs.promise),
    failed,
    conclude: ([first]) =>
      first?.subscription === 'a' ? Promise.reject(new Error('Redis is away')) : Promise.resolve(),
  }).catch((error: unknown) => {
    result = error;
  });
  await new Promise((resolve) => setTimeout(resolve, 30));
  expect(result).toBeNull();
  hangs.resolve({ wakeAt: null });
  await drained;
  expect(result).toMatchObject({ message: 'Redis is away' });
});
