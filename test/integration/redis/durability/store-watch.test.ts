import { afterAll, describe, expect, test } from 'vitest';
import { createKeys } from '../../../../src/redis/keys.ts';
import { createStoreWatch, StoreFormatError } from '../../../../src/redis/durability/store-watch.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';

const shared = testRedis();
const redis = shared.connect();
let watches = 0;

afterAll(() => shared.cleanup());

function newWatch() {
  watches += 1;
  const keys = createKeys(`${shared.prefix}-${watches}`);
  return { keys, watch: createStoreWatch(redis, keys) };
}

describe('the mark of the store', () => {
  test('is made once, and found again by whoever starts later', async () => {
    const { keys, watch } = newWatch();
    expect(await watch.begin()).toEqual({ fresh: true });
    expect(await createStoreWatch(redis, keys).begin()).toEqual({ fresh: false });
    await watch.check();
    expect(watch.problem()).toBeNull();
  });

  test('is looked at once for all that ask within a time', async () => {
    const { keys, watch } = newWatch();
    await watch.begin();
    await watch.check();
    await redis.del(keys.store);
    await watch.check(60_000);
    expect(watch.problem()).toBeNull();
    await watch.check(0);
    expect(watch.problem()).toMatch(/^The store was emptied/);
  });

  test.each(['', 'another'])('that is missing or "%s" is a problem until the process ends', async (mark) => {
    const { keys, watch } = newWatch();
    await watch.begin();
    const former = (await redis.get(keys.store)) ?? '';
    await (mark === '' ? redis.del(keys.store) : redis.set(keys.store, mark));
    await watch.check();
    await redis.set(keys.store, former);
    await watch.check();
    expect(watch.problem()).toContain('emptied or replaced');
  });

  test.each([
    ['3 later', 'run the newer'],
    ['0 earlier', 'run the older'],
    ['1b0e8c0e-0000-4000-8000-000000000000', 'run the older'],
  ])('of format "%s" is refused and left as it is', async (mark, advice) => {
    const { keys, watch } = newWatch();
    await redis.set(keys.store, mark);
    const refused = watch.begin();
    await expect(refused).rejects.toThrow(StoreFormatError);
    await expect(refused).rejects.toThrow(advice);
    expect(await redis.keys(`${keys.prefix}*`)).toEqual([keys.store]);
    expect(await redis.get(keys.store)).toBe(mark);
  });
});
