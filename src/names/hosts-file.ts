import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';

/** Addresses by name, in lower case. */
export type Hosts = ReadonlyMap<string, readonly LookupAddress[]>;

/**
 * Reads a hosts file (hosts(5)); pure. A name on several lines has all their addresses, in their order. Lines
 * without an address are left out, and so are addresses with a zone.
 */
export function parseHosts(text: string): Hosts {
  const hosts = new Map<string, LookupAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = wordsOf(line);
    const family = isIP(address);
    if (family === 0 || address.includes('%')) continue;
    for (const name of names) add(hosts, name.toLowerCase(), { address, family });
  }
  return hosts;
}

function wordsOf(line: string): string[] {
  const [text = ''] = line.split('#', 1);
  return text.split(/\s+/).filter((word) => word !== '');
}

function add(hosts: Map<string, LookupAddress[]>, name: string, entry: LookupAddress): void {
  const known = hosts.get(name);
  if (known === undefined) hosts.set(name, [entry]);
  else if (!known.some(({ address }) => address === entry.address)) known.push(entry);
}

const loopback: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * The addresses that a name has by itself: `localhost` and names below it (RFC 6761 §6.3). Null for others.
 */
export function reservedAddresses(name: string): readonly LookupAddress[] | null {
  return name === 'localhost' || name.endsWith('.localhost') ? loopback : null;
}
