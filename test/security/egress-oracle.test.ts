import { spawnSync } from 'node:child_process';
import { isIP } from 'node:net';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { describe, expect, test } from 'vitest';
import { createEgressPolicy } from '../../src/egress/address-policy.ts';
import { checkCallbackUrl } from '../../src/egress/url-policy.ts';
import { skipIfFails } from '../support/skip-without.ts';
import corpus from '../support/ssrf-corpus.json' with { type: 'json' };
import { expectNone } from '../support/expect-none.ts';

// Python's ipaddress and the C library's inet_aton share no code with Node, ipaddr.js or the policy.
const noPython = skipIfFails('python3', '-c', 'import ipaddress');
const policy = createEgressPolicy({ allowCidrs: [] });

/**
 * What the policy refuses although it is public: carriers of other addresses, anycast services, and Azure's
 * metadata.
 */
const refusedBesides = [
  '168.63.129.16/32',
  '192.0.0.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.175.48.0/24',
  '::/3', // not yet numbered, NAT64, IPv4-mapped
  '2001::/23',
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20', // older versions of Python do not know it
  '4000::/2',
  '8000::/1',
].map((range) => ipaddr.parseCIDR(range));

/** What the oracle says of each; null where it is no address. */
function isPublic(addresses: readonly string[]): (boolean | null)[] {
  const script = fileURLToPath(new URL('oracle.py', import.meta.url));
  const { stdout, stderr } = spawnSync('python3', [script], {
    input: JSON.stringify(addresses),
    encoding: 'utf8',
  });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout) as (boolean | null)[];
}

function isRefusedBesides(address: string): boolean {
  const parsed = ipaddr.parse(address);
  return refusedBesides.some(
    ([range, bits]) => range.kind() === parsed.kind() && parsed.match([range, bits]),
  );
}

/** Addresses of which the policy and the oracle do not think alike, with what the policy says. */
function differences(addresses: readonly string[]): string[] {
  const verdicts = isPublic(addresses);
  return addresses.flatMap((address, i) => {
    const isAllowed = policy.isAllowed(address);
    const expected = verdicts[i] === true && !isRefusedBesides(address);
    return isAllowed === expected ? [] : [`${address}: ${isAllowed ? 'allowed' : 'refused'}`];
  });
}

/** The first and the last address of a range, and their neighbours outside. */
function borders(range: string): string[] {
  const [, bits = ''] = range.split('/');
  const ipv4 = !range.includes(':');
  const size = ipv4 ? 32n : 128n;
  const first = toNumber(ipaddr.parse(range.split('/')[0] ?? ''));
  const last = first + (1n << (size - BigInt(bits))) - 1n;
  return [first - 1n, first, first + 1n, last - 1n, last, last + 1n]
    .filter((value) => value >= 0n && value < 1n << size)
    .map((value) => toText(value, ipv4));
}

function toNumber(address: ipaddr.IPv4 | ipaddr.IPv6): bigint {
  return address.toByteArray().reduce((sum, byte) => (sum << 8n) + BigInt(byte), 0n);
}

function toText(value: bigint, ipv4: boolean): string {
  const hex = value.toString(16).padStart(ipv4 ? 8 : 32, '0');
  return ipaddr.fromByteArray([...Buffer.from(hex, 'hex')]).toString();
}

// The registries of special-purpose addresses (RFC 6890, IANA), read for this test anew.
const registries = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '::1/128',
  '::ffff:0:0/96',
  '64:ff9b::/96',
  '64:ff9b:1::/48',
  '100::/64',
  '2000::/3',
  '2001::/23',
  '2001:db8::/32',
  '2002::/16',
  '2620:4f:8000::/48',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fe80::/10',
  'ff00::/8',
];

describe.skipIf(noPython)('an independent oracle agrees (skipped without Python)', () => {
  test('at every border of the special-purpose ranges', () => {
    expect(differences(registries.flatMap(borders))).toEqual([]);
  });

  test('on thousands of addresses all over', () => {
    const ipv4 = fc.sample(fc.ipV4(), 10_000);
    const ipv6 = fc
      .sample(fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }), 5_000)
      .map((n) => toText(n, false));
    const unicast = fc.sample(fc.bigInt({ min: 1n << 125n, max: (1n << 126n) - 1n }), 5_000);
    expect(differences([...ipv4, ...ipv6, ...unicast.map((n) => toText(n, false))])).toEqual([]);
  });

  test('on every address of the corpus, wherever its spelling leads', () => {
    const hosts = corpus
      .flatMap((group) => group.urls)
      .flatMap((url) => /^https?:\/\/([\da-fx.]+)[:/]/i.exec(url)?.[1] ?? []);
    const verdicts = isPublic(hosts);
    expect(verdicts.filter((verdict) => verdict !== null).length).toBeGreaterThan(80);
    const publicHosts = hosts.filter((_, i) => verdicts[i] === true);
    expectNone(publicHosts, (host) => isIP(host) === 0 || !isRefusedBesides(host), 'public hosts');
  });

  test('on IPv4 addresses in thousands of spellings', () => {
    const urls = fc.sample(
      fc.tuple(fc.ipV4(), fc.nat(3), fc.array(fc.nat(2), { minLength: 4, maxLength: 4 })),
      3_000,
    );
    const spellings = urls.map(([address, parts, bases]) => ({
      address,
      text: spell(address, parts + 1, bases),
    }));
    const verdicts = isPublic(spellings.map(({ text }) => text));
    const wrong = spellings.filter(({ address, text }, i) => {
      const { ok } = checkCallbackUrl(`http://${text}/`, { allowHttp: true, policy });
      return ok !== (verdicts[i] === true && !isRefusedBesides(address));
    });
    expect(wrong).toEqual([]);
  });
});

/** An address in so many parts, each in decimal, octal or hexadecimal; the last part holds the rest. */
function spell(address: string, parts: number, bases: readonly number[]): string {
  const bytes = address.split('.').map(Number);
  const head = bytes.slice(0, parts - 1);
  const rest = bytes.slice(parts - 1).reduce((sum, byte) => sum * 256 + byte, 0);
  return [...head, rest]
    .map((value, i) => [String(value), `0${value.toString(8)}`, `0x${value.toString(16)}`][bases[i] ?? 0])
    .join('.');
}
