import type { LookupAddress } from 'node:dns';
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';

/** Addresses by name, in lower case. */
export type Hosts = ReadonlyMap<string, readonly LookupAddress[]>;

/** How short names become full ones (resolv.conf(5)). */
export interface SearchRules {
  /** Domains that are appended, in this order. */
  readonly domains: readonly string[];
  /** Minimum number of dots with which a name is asked as it is before the domains are appended. */
  readonly ndots: number;
}

/**
 * Reads a hosts file (hosts(5)); pure. A name on several lines has all their addresses, in their order. Lines
 * without an address are left out, and so are addresses with a zone.
 */
export function parseHosts(text: string): Hosts {
  const hosts = new Map<string, LookupAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = wordsOf(line.split('#', 1)[0] ?? '');
    const family = isIP(address);
    if (family === 0 || address.includes('%')) continue;
    for (const name of names) {
      const known = hosts.get(name) ?? [];
      if (!known.some((each) => each.address === address)) hosts.set(name, [...known, { address, family }]);
    }
  }
  return hosts;
}

// Maximum number of search domains, as in Kubernetes, and of `ndots`, as in the C library.
const domainsMax = 32;
const ndotsMax = 15;

/**
 * Reads `search`, `domain` and `options ndots:` of a resolv.conf; pure. The last of `search` and `domain`
 * counts.
 */
export function parseSearchRules(text: string): SearchRules {
  let rules: SearchRules = { domains: [], ndots: 1 };
  for (const line of text.split('\n')) {
    const [keyword, ...words] = wordsOf(line);
    if (keyword === 'search' || keyword === 'domain')
      rules = { ...rules, domains: words.map((word) => word.replace(/\.$/, '')).slice(0, domainsMax) };
    const [, ndots] = keyword === 'options' ? (/ ndots:(\d{1,3})\b/.exec(line) ?? []) : [];
    if (ndots !== undefined) rules = { ...rules, ndots: Math.min(Number(ndots), ndotsMax) };
  }
  return rules;
}

/** The full names to ask for, in their order; pure. A name that ends with a dot is full already. */
export function fullNames(name: string, { domains, ndots }: SearchRules): string[] {
  if (name.endsWith('.')) return [name.slice(0, -1)];
  const longer = domains.map((domain) => (domain === '' ? name : `${name}.${domain}`));
  const dots = name.split('.').length - 1;
  return [...new Set(dots >= ndots ? [name, ...longer] : [...longer, name])];
}

function wordsOf(line: string): string[] {
  return line
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== '');
}

// Milliseconds after which a file is looked at again.
const lookEveryMs = 1_000;

/**
 * Gives the parsed content of a file, parsed again within a second of a change: a container's files change
 * with its networks. A file that cannot be read counts as empty.
 */
export function followFile<T>(path: string, parse: (text: string) => T): () => T {
  let known: { readonly text: string; readonly value: T } | null = null;
  let readAt = -Infinity;
  return () => {
    if (known !== null && performance.now() - readAt < lookEveryMs) return known.value;
    readAt = performance.now();
    const text = read(path);
    if (known?.text !== text) known = { text, value: parse(text) };
    return known.value;
  };
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
