import { afterAll, expect, test } from 'vitest';
import { createAccountMarks } from '../../../../src/monitoring/gauges/account-marks.ts';
import { createKeys } from '../../../../src/redis/keys.ts';
import { testRedis } from '../../../support/redis/test-redis.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());
const client = redis.connect();
const keys = createKeys(redis.prefix);
const made = () =>
  createAccountMarks(client, keys, (error) => {
    throw error;
  });

test('marks of two processes are read once each, in their order, after the place that is known', async () => {
  const [here, there] = [made(), made()];
  const begun = await here.newest('changed');
  for (const account of ['a', 'b', 'a']) here.changed(account);
  await here.flush();
  there.changed('c');
  there.polled('d');
  await there.flush();
  const found = await here.after('changed', begun);
  expect(found.map(([account]) => account)).toEqual(['a', 'b', 'c']);
  expect(await here.after('changed', found[1]?.[1] ?? 0)).toEqual([found[2]]);
  here.changed('a');
  await here.flush();
  expect((await there.after('changed', found[2]?.[1] ?? 0)).map(([account]) => account)).toEqual(['a']);
  expect((await there.after('polled', 0)).map(([account]) => account)).toEqual(['d']);
});

test('a mark is behind all others even where the clock has stepped back, and old ones go', async () => {
  const marks = made();
  const ahead = (Date.now() + 60_000) * 1_000;
  await client.zadd(keys.marks('polled'), ahead, 'from the future', 1, 'old');
  marks.polled('late');
  await marks.flush();
  expect(await marks.after('polled', ahead)).toEqual([['late', ahead + 1]]);
  expect(await client.zscore(keys.marks('polled'), 'old')).toBeNull();
  expect(await client.pttl(keys.marks('polled'))).toBeGreaterThan(0);
});

test('marks that Redis refuses are written by a later flush', async () => {
  const marks = made();
  await client.set(keys.marks('polled'), 'not a set');
  marks.polled('kept');
  await expect(marks.flush()).rejects.toThrow('WRONGTYPE');
  await client.del(keys.marks('polled'));
  await marks.flush();
  expect((await marks.after('polled', 0)).map(([account]) => account)).toEqual(['kept']);
});
