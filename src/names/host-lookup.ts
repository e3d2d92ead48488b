import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import CacheableLookup from 'cacheable-lookup';
import PQueue from 'p-queue';
import { followFile, fullNames, parseHosts, parseSearchRules } from './name-files.ts';

/**
 * Finds every address of a host name, for an owner: one account's callbacks, its polls, or its checks.
 * Rejects with the code `ENOTFOUND` if it has none, and `EAI_AGAIN` if no name server answered for some
 * seconds.
 */
export type HostLookup = (hostname: string, owner?: string) => Promise<readonly LookupAddress[]>;

/** Settings of the lookups; tests use servers and files of their own. */
export interface HostLookupOptions {
  readonly hostsFile?: string;
  readonly resolvConf?: string;
  /** Name servers (`address:port`) instead of those of the system. */
  readonly servers?: readonly string[];
  /** Maximum number of lookups of one owner at once. */
  readonly perOwner?: number;
}

// Maximum number of addresses of a family that are kept: a server may name thousands, and each is vetted.
const addressesMax = 32;
// Seconds for which an answer is kept, at most, and the answer that there are none.
const keptFor = { maxTtl: 30, errorTtl: 5 };
const noAddress = new Set(['ENOTFOUND', 'ENODATA', 'EBADNAME']);

/**
 * Lookups by c-ares, which needs no thread: a name whose server is dead keeps no other one waiting, as it
 * does with getaddrinfo and its four threads. The hosts file comes first, then the name servers and the
 * search list of resolv.conf (docs/configuration.md#host-names). Further lookups of one owner wait for its
 * own.
 */
export function createHostLookup(options: HostLookupOptions = {}): HostLookup {
  const { hostsFile = '/etc/hosts', resolvConf = '/etc/resolv.conf', servers, perOwner = 128 } = options;
  const hosts = followFile(hostsFile, parseHosts);
  const names = followFile(resolvConf, (text) => ({
    rules: parseSearchRules(text),
    answers: new CacheableLookup({
      ...keptFor,
      resolver: openResolver(servers),
      lookup: false,
      fallbackDuration: 0,
    }),
  }));
  const queues = new Map<string, PQueue>();

  async function inTurn<T>(owner: string, find: () => Promise<T>): Promise<T> {
    const queue = queues.get(owner) ?? new PQueue({ concurrency: perOwner });
    queues.set(owner, queue);
    try {
      return await queue.add(find);
    } finally {
      if (queue.pending + queue.size === 0) queues.delete(owner);
    }
  }

  async function search(name: string): Promise<readonly LookupAddress[]> {
    const { rules, answers } = names();
    let failure = 'ENOTFOUND';
    for (const full of fullNames(name, rules)) {
      try {
        // One after the other: each is asked for because the one before has no addresses.
        // oxlint-disable-next-line no-await-in-loop
        const found = await answers.lookupAsync(full, { all: true });
        return found.map(({ address, family }) => ({ address, family }));
      } catch (error) {
        const { code = '' } = error as NodeJS.ErrnoException;
        if (!noAddress.has(code)) failure = 'EAI_AGAIN';
        if (code === 'ETIMEOUT') break;
      }
    }
    throw Object.assign(new Error(`${name} could not be resolved: ${failure}`), { code: failure });
  }

  return (hostname, owner = '') => {
    const name = hostname.toLowerCase();
    const family = isIP(name);
    if (family !== 0) return Promise.resolve([{ address: name, family }]);
    const listed = hosts().get(name.replace(/\.$/, '')) ?? reservedAddresses(name);
    return listed === null ? inTurn(owner, () => search(name)) : Promise.resolve(listed);
  };
}

const loopback: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

// RFC 6761 §6.3.
function reservedAddresses(name: string): readonly LookupAddress[] | null {
  return /^(?:.+\.)?localhost\.?$/.test(name) ? loopback : null;
}

/**
 * Asks for the addresses of each family, and keeps `addressesMax` of them. Some servers ignore questions for
 * IPv6: these are given up soon, and the name has none then.
 */
function openResolver(servers: readonly string[] | undefined): Resolver {
  // Milliseconds of one question to a name server, and how often it is asked.
  const ofIpv4 = new Resolver({ timeout: 2_000, tries: 3, maxTimeout: 3_000 });
  const ofIpv6 = new Resolver({ timeout: 1_000, tries: 1 });
  for (const resolver of servers === undefined ? [] : [ofIpv4, ofIpv6]) resolver.setServers(servers ?? []);
  const few = async <T>(asked: Promise<readonly T[]>) => (await asked).slice(0, addressesMax);
  return Object.assign(new Resolver(), {
    resolve4: (name: string) => few(ofIpv4.resolve4(name, { ttl: true })),
    resolve6: (name: string) => few(ofIpv6.resolve6(name, { ttl: true }).catch(() => [])),
  });
}
