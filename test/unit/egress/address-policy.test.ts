import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createEgressPolicy } from '../../../src/egress/address-policy.ts';

const publicOnly = createEgressPolicy({ allowCidrs: [] });

describe('public addresses', () => {
  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '93.184.216.34',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '168.63.129.15',
    '168.63.129.17',
    '169.253.255.255',
    '169.255.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '191.255.255.255',
    '192.0.1.0',
    '192.0.3.0',
    '192.167.255.255',
    '192.169.0.0',
    '198.17.255.255',
    '198.20.0.0',
    '203.0.112.255',
    '203.0.114.0',
    '223.255.255.255',
    '2001:200::1',
    '2001:4860:4860::8888',
    '2001:db7:ffff::1',
    '2001:db9::1',
    '2003::1',
    '2606:4700::1111',
    '3ffe:ffff::1',
    '3fff:1000::1',
  ])('allows %s', (address) => {
    expect(publicOnly.isAllowed(address)).toBe(true);
  });
});

describe('addresses that are no ordinary public host', () => {
  it.each([
    '0.0.0.0',
    '0.255.255.255',
    '10.0.0.0',
    '10.255.255.255',
    '100.64.0.0',
    '100.100.100.200',
    '100.127.255.255',
    '127.0.0.0',
    '127.255.255.255',
    '168.63.129.16',
    '169.254.0.0',
    '169.254.169.254',
    '169.254.255.255',
    '172.16.0.0',
    '172.31.255.255',
    '192.0.0.0',
    '192.0.0.255',
    '192.0.2.255',
    '192.88.99.1',
    '192.168.0.0',
    '192.168.255.255',
    '198.18.0.0',
    '198.19.255.255',
    '198.51.100.0',
    '203.0.113.255',
    '224.0.0.0',
    '239.255.255.255',
    '240.0.0.0',
    '255.255.255.255',
    '::',
    '::1',
    '::7f00:1',
    '::8.8.8.8',
    '::ffff:8.8.8.8',
    '::ffff:0:8.8.8.8',
    '64:ff9b::8.8.8.8',
    '64:ff9b:1::1',
    '100::1',
    '1fff:ffff::1',
    '2001::1',
    '2001:2::1',
    '2001:1ff:ffff::1',
    '2001:db8::1',
    '2002:808:808::1',
    '2620:4f:8000::1',
    '3fff::1',
    '3fff:fff::1',
    '4000::1',
    '5f00::1',
    'fc00::1',
    'fd00:ec2::254',
    'fe80::1',
    'fec0::1',
    'ff02::1',
  ])('refuses %s', (address) => {
    expect(publicOnly.isAllowed(address)).toBe(false);
  });

  it.each([
    '',
    'localhost',
    'example.com',
    '8.8.8',
    '134744072',
    '0x8.8.8.8',
    '010.8.8.8',
    '8.8.8.8 ',
    '[2606:4700::1111]',
    '2606:4700::1111%eth0',
    '::1%lo',
    '::%:',
    '8.8.8.8/32',
  ])('refuses %j, which is not the plain form of an address', (text) => {
    expect(publicOnly.isAllowed(text)).toBe(false);
  });
});

describe('allowed ranges', () => {
  const lan = createEgressPolicy({ allowCidrs: ['127.0.0.0/8', '10.1.0.0/17', '::1/128', 'fd12::/32'] });

  it.each([
    '127.0.0.1',
    '127.255.255.255',
    '10.1.0.0',
    '10.1.127.255',
    '::1',
    'fd12:0:ffff::1',
    '8.8.8.8',
    '2606:4700::1',
  ])('opens %s', (address) => {
    expect(lan.isAllowed(address)).toBe(true);
  });

  it.each(['10.1.128.0', '10.0.255.255', '::2', 'fd12:1::1', '192.168.0.1'])(
    'leaves %s refused',
    (address) => {
      expect(lan.isAllowed(address)).toBe(false);
    },
  );

  it('opens no IPv6 form of an IPv4 range', () => {
    for (const address of ['::ffff:127.0.0.1', '::127.0.0.1', '64:ff9b::127.0.0.1', '2002:7f00:1::1']) {
      expect(lan.isAllowed(address)).toBe(false);
    }
  });

  it('never opens IPv4-mapped addresses, not even when everything is allowed', () => {
    const all = createEgressPolicy({ allowCidrs: ['0.0.0.0/0', '::/0'] });
    expect(all.isAllowed('10.0.0.1')).toBe(true);
    expect(all.isAllowed('fe80::1')).toBe(true);
    expect(all.isAllowed('::ffff:10.0.0.1')).toBe(false);
  });

  it.each([
    '10.0.0.0',
    '10/8',
    '10.0.0.0/33',
    '::1/129',
    'localhost/8',
    '10.0.0.0/',
    '/8',
    '10.0.0.0/-1',
    '',
  ])('throws for %j', (entry) => {
    expect(() => createEgressPolicy({ allowCidrs: [entry] })).toThrow(TypeError);
  });
});

describe('any address', () => {
  it('is judged alike in every spelling', () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        const canonical = new URL(`http://[${address}]/`).hostname.slice(1, -1);
        expect(publicOnly.isAllowed(address)).toBe(publicOnly.isAllowed(canonical));
      }),
    );
  });

  it('outside 2000::/3 is refused', () => {
    fc.assert(
      fc.property(fc.ipV6(), (address) => {
        const first = Number.parseInt(new URL(`http://[${address}]/`).hostname.slice(1), 16) || 0;
        expect(publicOnly.isAllowed(address) && (first < 0x2000 || first > 0x3fff)).toBe(false);
      }),
    );
  });
});
