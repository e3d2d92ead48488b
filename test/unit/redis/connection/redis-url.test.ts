import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { describeRedis, parseRedisUrl } from '../../../../src/redis/connection/redis-url.ts';
import type { RedisAddress } from '../../../../src/redis/connection/redis-url.ts';

const noFiles = { cert: null, key: null, cacert: null };
const plain: RedisAddress = {
  kind: 'single',
  nodes: [{ host: 'h', port: 6379 }],
  path: '',
  tls: null,
  username: null,
  password: null,
  sentinel: { username: null, password: null },
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
    ['rediss://h', { tls: noFiles }],
    ['rediss://h/0?cacert=%2Fa%20b', { tls: { ...noFiles, cacert: '/a b' } }],
    ['rediss://h?cert=/c&key=/k', { tls: { ...noFiles, cert: '/c', key: '/k' } }],
    ['unix:///run/redis.sock', { kind: 'socket', nodes: [], path: '/run/redis.sock' }],
    [
      'redis+unix://u:p@/a%20b?db=3',
      { kind: 'socket', nodes: [], path: '/a b', username: 'u', password: 'p', db: 3 },
    ],
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
    ['rediss+cluster://h', { kind: 'cluster', tls: noFiles }],
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
    [
      'rediss+sentinel://a/m?cacert=/ca&sentinel-username=s&sentinel-password=a+b%26',
      {
        kind: 'sentinel',
        nodes: [{ host: 'a', port: 26379 }],
        tls: { ...noFiles, cacert: '/ca' },
        sentinel: { username: 's', password: 'a+b&' },
        masterName: 'm',
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
    ['redis+sentinel://:secret@a/m?sentinel-password=secret', 'redis+sentinel://a:26379/m'],
    ['rediss://h?cert=/secret&key=/secret', 'rediss://h:6379'],
    ['unix://:secret@/run/redis.sock', 'redis+unix:///run/redis.sock'],
  ])('%s is described without user and password', (url, expected) => {
    expect(describeRedis(addressOf(url))).toBe(expected);
  });
});
