import { expect, test } from 'vitest';
import { addressKey, createLimit } from '../../../../src/api/access/limits.ts';

test('a key has as many requests as it may have in a window, whatever others have', async () => {
  const limit = createLimit({ max: 2, windowMs: 60_000 }, 'Too many.');
  await limit.check('a');
  await limit.count('a');
  await limit.count('a');
  const refusal = {
    code: 'too_many_requests',
    message: 'Too many. Wait as long as Retry-After says.',
    headers: { 'retry-after': '60' },
  };
  await expect(limit.check('a')).rejects.toMatchObject(refusal);
  await expect(limit.count('a')).rejects.toMatchObject(refusal);
  await limit.check('b');
});

test('looking does not count, and a request may be worth several', async () => {
  const limit = createLimit({ max: 3, windowMs: 60_000 }, 'Too many.');
  for (let i = 0; i < 10; i += 1) await limit.check('a');
  await limit.charge('a', 2);
  await limit.check('a');
  await limit.charge('a', 1);
  await expect(limit.check('a')).rejects.toThrow('Too many.');
});

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['::ffff:127.0.0.1', '127.0.0.1'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2/64'],
  ['2001:db8:1:2::', '2001:db8:1:2/64'],
  ['::1', '0:0:0:0/64'],
  ['fe80::1%eth0', 'fe80:0:0:0/64'],
  ['nonsense', 'nonsense'],
  ['', ''],
])('requests from %j are counted under %j', (address, key) => {
  expect(addressKey(address)).toBe(key);
});
