import { expect, test } from 'vitest';
import { fullNames, parseHosts, parseSearchRules } from '../../../src/names/name-files.ts';

test('a hosts file gives every address of a name, in order and once, whatever its case', () => {
  const hosts = parseHosts(
    '# of this machine\r\n127.0.0.1 localhost Localhost.LocalDomain # a comment 10.0.0.9\n::1\tlocalhost\n' +
      '127.0.0.1 localhost\n10.0.0.1 db db.internal\nfe80::1%eth0 zoned\nnonsense name\n10.0.0.2\n',
  );
  expect(Object.fromEntries(hosts)).toEqual({
    localhost: [
      { address: '127.0.0.1', family: 4 },
      { address: '::1', family: 6 },
    ],
    'localhost.localdomain': [{ address: '127.0.0.1', family: 4 }],
    db: [{ address: '10.0.0.1', family: 4 }],
    'db.internal': [{ address: '10.0.0.1', family: 4 }],
  });
});

test('a name such as __proto__ or constructor is a name like any other', () => {
  expect([...parseHosts('10.0.0.1 __proto__ constructor').keys()]).toEqual(['__proto__', 'constructor']);
  expect(parseHosts('').get('constructor')).toBeUndefined();
});

const kubernetes = [
  'search shop.svc.cluster.local svc.cluster.local cluster.local',
  'nameserver 10.96.0.10',
  'options ndots:5',
].join('\n');

test.each([
  ['', { domains: [], ndots: 1 }],
  ['domain Example.COM.', { domains: ['example.com'], ndots: 1 }],
  ['search a.example b.example\ndomain c.example', { domains: ['c.example'], ndots: 1 }],
  ['search .', { domains: [''], ndots: 1 }],
  ['options timeout:1 ndots:2 rotate\n# options ndots:4', { domains: [], ndots: 2 }],
  ['options ndots:99', { domains: [], ndots: 15 }],
  ['  search\tone.example  ', { domains: ['one.example'], ndots: 1 }],
])('resolv.conf %j', (text, expected) => {
  expect(parseSearchRules(text)).toEqual(expected);
});

test.each([
  ['redis', ['redis.shop.svc.cluster.local', 'redis.svc.cluster.local', 'redis.cluster.local', 'redis']],
  [
    'hooks.example.com',
    [
      'hooks.example.com.shop.svc.cluster.local',
      'hooks.example.com.svc.cluster.local',
      'hooks.example.com.cluster.local',
      'hooks.example.com',
    ],
  ],
  ['hooks.example.com.', ['hooks.example.com']],
  [
    'a.b.c.d.e.f',
    [
      'a.b.c.d.e.f',
      'a.b.c.d.e.f.shop.svc.cluster.local',
      'a.b.c.d.e.f.svc.cluster.local',
      'a.b.c.d.e.f.cluster.local',
    ],
  ],
])('in a pod of Kubernetes %s is asked for as %j', (name, expected) => {
  expect(fullNames(name, parseSearchRules(kubernetes))).toEqual(expected);
});

test('a short name without a search list is asked for as it is, and nothing is asked twice', () => {
  expect(fullNames('redis', { domains: [], ndots: 1 })).toEqual(['redis']);
  expect(fullNames('redis', { domains: ['', 'a', 'a'], ndots: 1 })).toEqual(['redis', 'redis.a']);
});
