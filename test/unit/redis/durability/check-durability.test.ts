import { describe, expect, test } from 'vitest';
import { findProblems } from '../../../../src/redis/durability/check-durability.ts';
import type { RedisFacts } from '../../../../src/redis/durability/check-durability.ts';

const durable: RedisFacts = {
  version: '7.0.15',
  role: 'master',
  maxmemoryPolicy: 'noeviction',
  aofEnabled: true,
};

describe('a Redis', () => {
  test.each<[string, Partial<RedisFacts>]>([
    ['that keeps everything', {}],
    ['of a later version', { version: '8.2.1' }],
    ['with a two-digit major version', { version: '10.0.0' }],
    ['that tells neither version nor role', { version: null, role: null }],
  ])('%s is fine', (_which, facts) => {
    expect(findProblems({ ...durable, ...facts })).toEqual([]);
  });

  test.each<[string, Partial<RedisFacts>, RegExp]>([
    ['that is too old', { version: '6.2.14' }, /Redis 6\.2\.14 is too old: 7\.0 or newer/],
    ['that is a replica', { role: 'slave' }, /replica.*REDIS_URL/],
    ['that evicts', { maxmemoryPolicy: 'allkeys-lru' }, /is allkeys-lru.*set maxmemory-policy noeviction/],
    ['that hides its policy', { maxmemoryPolicy: null }, /does not report.*set maxmemory-policy noeviction/],
    [
      'without append-only file',
      { aofEnabled: false },
      /keeps no append-only file.*set appendonly yes \(redis-server --appendonly yes, or redis-cli CONFIG SET appendonly yes and/,
    ],
    ['that hides its append-only file', { aofEnabled: null }, /does not report.*set appendonly yes/],
  ])('%s is a problem, with what to set', (_which, facts, problem) => {
    const problems = findProblems({ ...durable, ...facts });
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(problem);
  });
});
