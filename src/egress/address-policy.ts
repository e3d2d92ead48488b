import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Decides which addresses callbacks may reach; the verdict on an address never changes. */
export interface EgressPolicy {
  /**
   * Whether a connection to this address is permitted. The address has the form that a resolver or the URL
   * parser gives, without brackets; any other text (names, zone ids, octal or short forms) is refused.
   */
  isAllowed(address: string): boolean;
}

type Address = ReturnType<typeof ipaddr.parse>;

/**
 * IPv4 ranges that are not ordinary public hosts: the IANA special-purpose registry (RFC 6890) plus multicast
 * and the one public address behind which Azure serves its instance metadata.
 */
const refusedIpv4 = [
  '0.0.0.0/8', // "this network", RFC 791
  '10.0.0.0/8', // private, RFC 1918
  '100.64.0.0/10', // carrier-grade NAT, RFC 6598; holds Alibaba's metadata 100.100.100.200
  '127.0.0.0/8', // loopback, RFC 1122
  '168.63.129.16/32', // Azure platform and metadata
  '169.254.0.0/16', // link-local, RFC 3927; holds the usual metadata 169.254.169.254
  '172.16.0.0/12', // private, RFC 1918
  '192.0.0.0/24', // IETF protocol assignments, RFC 6890; holds Oracle's metadata 192.0.0.192
  '192.0.2.0/24', // documentation, RFC 5737
  '192.31.196.0/24', // AS112, RFC 7535
  '192.52.193.0/24', // AMT, RFC 7450
  '192.88.99.0/24', // 6to4 relay anycast, RFC 7526
  '192.168.0.0/16', // private, RFC 1918
  '192.175.48.0/24', // AS112, RFC 7534
  '198.18.0.0/15', // benchmarking, RFC 2544
  '198.51.100.0/24', // documentation, RFC 5737
  '203.0.113.0/24', // documentation, RFC 5737
  '224.0.0.0/4', // multicast, RFC 5771
  '240.0.0.0/4', // reserved, RFC 1112; holds the broadcast address
].map(parseCidr);

/**
 * The only IPv6 block from which public hosts are numbered (RFC 4291 §2.4). Outside lie loopback,
 * `::a.b.c.d`, NAT64 (64:ff9b::/96, 64:ff9b:1::/48), discard (100::/64), segment routing (5f00::/16), unique
 * local with fd00:ec2::254, link-local, site-local and multicast.
 */
const globalUnicastIpv6 = parseCidr('2000::/3');

/** Ranges inside that block that are not ordinary public hosts. */
const refusedIpv6 = [
  '2001::/23', // IETF protocol assignments, RFC 2928; holds Teredo, benchmarking, AMT and ORCHID
  '2001:db8::/32', // documentation, RFC 3849
  '2002::/16', // 6to4, RFC 3056: carries an IPv4 address
  '2620:4f:8000::/48', // AS112, RFC 7534
  '3fff::/20', // documentation, RFC 9637
].map(parseCidr);

const mappedIpv4 = parseCidr('::ffff:0:0/96');

/**
 * Permits public hosts and every address inside `allowCidrs` ("10.0.0.0/8", "::1/128"). An allowed range
 * opens its own address family only. IPv4-mapped IPv6 addresses are always refused: the plain IPv4 address
 * leads to the same host. Throws a TypeError that names the first entry which is not a CIDR.
 */
export function createEgressPolicy(options: { readonly allowCidrs: readonly string[] }): EgressPolicy {
  const allowed = options.allowCidrs.map(parseCidr);
  return {
    isAllowed(text) {
      const address = parseAddress(text);
      if (address === null || isIn(mappedIpv4, address)) return false;
      return allowed.some((range) => isIn(range, address)) || isPublic(address);
    },
  };
}

const kinds: ReadonlyMap<string, string> = new Map([
  ['private', 'a private address'],
  ['uniqueLocal', 'a private address'],
  ['carrierGradeNat', 'a private address'],
  ['loopback', "an address of the daemon's own machine"],
  ['linkLocal', 'a link-local address'],
  ['multicast', 'a multicast address'],
]);

/** Whether an address is an IPv4-mapped IPv6 one, which no setting permits. */
export function isMappedIpv4(text: string): boolean {
  const address = parseAddress(text);
  return address !== null && isIn(mappedIpv4, address);
}

/** The kind of a refused address, in two or three words; it follows from the address alone. */
export function describeAddress(text: string): string {
  const address = parseAddress(text);
  if (address === null) return 'no address';
  return kinds.get(address.range()) ?? 'not a public address';
}

function isPublic(address: Address): boolean {
  if (address.kind() === 'ipv4') return !refusedIpv4.some((range) => isIn(range, address));
  return isIn(globalUnicastIpv6, address) && !refusedIpv6.some((range) => isIn(range, address));
}

/**
 * Null for anything but an address without a zone. isIP() is the strict gate: ipaddr.js alone would also read
 * "10", "0x7f.1" and octal parts. isIP() accepts any text as a zone, ipaddr.js does not.
 */
function parseAddress(text: string): Address | null {
  return isIP(text) === 0 || text.includes('%') ? null : ipaddr.parse(text);
}

function isIn([base, bits]: readonly [Address, number], address: Address): boolean {
  return base.kind() === address.kind() && address.match(base, bits);
}

function parseCidr(text: string): [Address, number] {
  const [, address = ''] = /^([^/]+)\/\d{1,3}$/.exec(text) ?? [];
  if (parseAddress(address) === null || !ipaddr.isValidCIDR(text)) throw new TypeError(`not a CIDR: ${text}`);
  return ipaddr.parseCIDR(text);
}
