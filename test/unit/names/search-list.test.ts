import { expect, test } from 'vitest';
import { fullNames, parseSearchRules } from '../../../src/names/search-list.ts';

const kubernetes = [
  'search shop.svc.cluster.local svc.cluster.local cluster.local',
  'nameserver 10.96.0.10',
  'options ndots:5',
].join('\n');

test.each([
  ['', 'vm', { domains: [], ndots: 1 }],
  ['', 'vm.example.com', { domains: ['example.com'], ndots: 1 }],
  ['domain Example.COM.', 'vm', { domains: ['example.com'], ndots: 1 }],
  ['search a.example b.example\ndomain c.example', 'vm', { domains: ['c.example'], ndots: 1 }],
  ['search .', 'vm.example.com', { domains: [''], ndots: 1 }],
  ['options timeout:1 ndots:2 rotate\n# options ndots:4', 'vm', { domains: [], ndots: 2 }],
  ['options ndots:99', 'vm', { domains: [], ndots: 15 }],
  ['  search\tone.example  ', 'vm', { domains: ['one.example'], ndots: 1 }],
])('resolv.conf %j on %s', (text, ownName, expected) => {
  expect(parseSearchRules(text, ownName)).toEqual(expected);
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
  expect(fullNames(name, parseSearchRules(kubernetes, 'pod'))).toEqual(expected);
});

test('a short name without a search list is asked for as it is, and nothing is asked twice', () => {
  expect(fullNames('redis', { domains: [], ndots: 1 })).toEqual(['redis']);
  expect(fullNames('redis', { domains: ['', 'a', 'a'], ndots: 1 })).toEqual(['redis', 'redis.a']);
});
