import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addressKey, createRateLimiter } from '../../../../src/api/access/rate-limit.ts';

describe('a rate limiter', () => {
  test('counts a burst at once, and then as much as the rate allows', () => {
    let now = 0;
    const limiter = createRateLimiter({ burst: 3, perSecond: 10 }, () => now);
    expect([1, 2, 3, 4].map(() => limiter.count('a'))).toEqual([0, 0, 0, 100]);
    now = 99;
    expect(limiter.count('a')).toBe(1);
    now = 100;
    expect([limiter.count('a'), limiter.count('a')]).toEqual([0, 100]);
    expect(limiter.count('b')).toBe(0);
  });

  test('does not count what was refused, or only asked about', () => {
    let now = 0;
    const limiter = createRateLimiter({ burst: 1, perSecond: 1 }, () => now);
    limiter.count('a');
    for (let i = 0; i < 50; i += 1) limiter.count('a');
    for (let i = 0; i < 50; i += 1) limiter.waitMs('b');
    now = 1_000;
    expect([limiter.count('a'), limiter.count('b')]).toEqual([0, 0]);
  });

  test('lets no more through in any time than the burst and the rate', () => {
    const steps = fc.array(fc.nat(400), { maxLength: 200 });
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 50 }),
        steps,
        (burst, perSecond, waits) => {
          let now = 0;
          let counted = 0;
          const limiter = createRateLimiter({ burst, perSecond }, () => now);
          for (const wait of waits) {
            now += wait;
            if (limiter.count('a') === 0) counted += 1;
            expect(counted).toBeLessThanOrEqual(burst + (now / 1000) * perSecond + 1e-6);
          }
        },
      ),
    );
  });

  test('remembers a bounded number of keys, the latest', () => {
    const limiter = createRateLimiter({ burst: 1, perSecond: 0.001 }, () => 0);
    for (let i = 0; i < 10_001; i += 1) limiter.count(String(i));
    expect(limiter.waitMs('0')).toBe(0);
    expect(limiter.waitMs('10000')).toBeGreaterThan(0);
  });
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
