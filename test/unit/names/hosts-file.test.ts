import { expect, test } from 'vitest';
import { parseHosts, reservedAddresses } from '../../../src/names/hosts-file.ts';

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

test.each([
  ['localhost', ['127.0.0.1', '::1']],
  ['a.localhost', ['127.0.0.1', '::1']],
  ['localhost.example', null],
  ['xlocalhost', null],
])('of itself %s leads to %j', (name, expected) => {
  expect(reservedAddresses(name)?.map(({ address }) => address) ?? null).toEqual(expected);
});
