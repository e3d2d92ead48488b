import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeRedis, parseRedisUrl } from '../../../../src/redis/connection/redis-url.ts';
import type { RedisAddress } from '../../../../src/redis/connection/redis-url.ts';

const plain: RedisAddress = {
  kind: 'single',
  nodes: [{ host: 'h', port: 6379 }],
  tls: false,
  username: null,
  password: null,
  db: 0,
  masterName: '',
};

function addressOf(url: string): RedisAddress {
  const parsed = parseRedisUrl(url);
  if (!parsed.ok) throw new Error(parsed.problem);
  return parsed.address;
}

describe('a Redis address', () => {
  test.each<[string, Partial<RedisAddress>]>([
    ['redis://h', {}],
    ['redis://h/', {}],
    ['redis://h:1/15', { nodes: [{ host: 'h', port: 1 }], db: 15 }],
    ['redis://127.0.0.1:6380', { nodes: [{ host: '127.0.0.1', port: 6380 }] }],
    ['redis://[::1]', { nodes: [{ host: '::1', port: 6379 }] }],
    ['redis://[fd00::1]:7000', { nodes: [{ host: 'fd00::1', port: 7000 }] }],
    ['rediss://h', { tls: true }],
    ['redis://u:p@h', { username: 'u', password: 'p' }],
    ['redis://:p@h', { password: 'p' }],
    ['redis://u:a:b@h', { username: 'u', password: 'a:b' }],
    ['redis://u%40x:%2F%3A%25%40@h', { username: 'u@x', password: '/:%@' }],
    ['redis+cluster://h', { kind: 'cluster' }],
    [
      'redis+cluster://u:p@a:7000,[::1]:7001,c',
      {
        kind: 'cluster',
        nodes: [
          { host: 'a', port: 7000 },
          { host: '::1', port: 7001 },
          { host: 'c', port: 6379 },
        ],
        username: 'u',
        password: 'p',
      },
    ],
    ['rediss+cluster://h', { kind: 'cluster', tls: true }],
    [
      'redis+sentinel://:p@a,b:1/my%20master',
      {
        kind: 'sentinel',
        nodes: [
          { host: 'a', port: 26379 },
          { host: 'b', port: 1 },
        ],
        password: 'p',
        masterName: 'my master',
      },
    ],
  ])('%s is understood', (url, expected) => {
    expect(addressOf(url)).toEqual({ ...plain, ...expected });
  });

  test('keeps any user and password that was percent-encoded', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1 });
    fc.assert(
      fc.property(text, text, (username, password) => {
        const url = `redis://${encodeURIComponent(username)}:${encodeURIComponent(password)}@h`;
        expect(addressOf(url)).toEqual({ ...plain, username, password });
      }),
    );
  });

  test.each([
    ['redis://u:secret@h/3', 'redis://h:6379'],
    ['rediss+cluster://u:secret@a,[::1]:7', 'rediss+cluster://a:6379,[::1]:7'],
    ['redis+sentinel://:secret@a/m', 'redis+sentinel://a:26379/m'],
  ])('%s is described without user and password', (url, expected) => {
    expect(describeRedis(addressOf(url))).toBe(expected);
  });
});
