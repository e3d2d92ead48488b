import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createBoundedMap, type BoundedMap } from '../memory/bounded-map.ts';
import { askServers, type NameAnswer } from './ask-servers.ts';
import { reservedAddresses } from './hosts-file.ts';
import { createNameFiles, systemPaths, type NamePaths, type NameSettings } from './name-files.ts';
import { fullNames } from './search-list.ts';
import { createTurns } from './turns.ts';

/**
 * Finds every address of a host name, for an owner: one account's callbacks, its polls, or its checks.
 * Rejects with HostLookupError, within ten seconds unless the owner itself has many lookups under way.
 */
export type HostLookup = (hostname: string, owner?: string) => Promise<readonly LookupAddress[]>;

/** A name without addresses (`ENOTFOUND`), or one for which no name server gave an answer (`EAI_AGAIN`). */
class HostLookupError extends Error {
  override readonly name = 'HostLookupError';
  readonly code: 'ENOTFOUND' | 'EAI_AGAIN';

  constructor(hostname: string, code: 'ENOTFOUND' | 'EAI_AGAIN') {
    super(`${hostname} could not be resolved: ${code}`);
    this.code = code;
  }
}

/** Settings of the lookups; tests use servers and files of their own. */
export interface HostLookupOptions extends Partial<NamePaths> {
  /** Name servers (`address:port`) instead of those of the system. */
  readonly servers?: readonly string[];
  /** Maximum number of lookups of one owner at once. */
  readonly perOwner?: number;
}

// Maximum number of lookups at once, of all owners and of one, and of one owner that wait for a place.
const overallMax = 2_048;
const perOwnerMax = 128;
const waitingMax = 20_000;

// Milliseconds of one question to a name server, and how often it is asked; c-ares asks a quick server again
// sooner.
const questionMs = 2_000;
const triesMax = 3;
const questionMaxMs = 3_000;
// Milliseconds of a whole lookup with all names of the search list, once it has begun.
const lookupMs = 8_000;

// Milliseconds for which an answer is kept, at most, and a failure.
const foundMaxMs = 30_000;
const failedMs = 5_000;

// Maximum numbers of owners and of answers per owner that are remembered.
const ownersMax = 4_000;
const answersMax = 500;

const silence: NameAnswer = { kind: 'failed', silent: true };

interface Known {
  readonly answer: NameAnswer;
  readonly until: number;
}

/** The lookups of one owner. Nothing of them is shared, so no owner can spoil another's answers. */
interface Owner {
  readonly servers: string;
  readonly resolver: Resolver;
  readonly underWay: Map<string, Promise<NameAnswer>>;
  readonly known: BoundedMap<string, Known>;
}

/**
 * Lookups by c-ares, which needs no thread: a name whose server is dead keeps no other one waiting, as it
 * does with getaddrinfo and its four threads. The hosts file comes first, then the name servers and the
 * search list of resolv.conf (docs/configuration.md#host-names). The same name asked at once by one owner is
 * looked up once. Answers hold for their time to live, at most half a minute; failures for five seconds.
 */
export function createHostLookup(options: HostLookupOptions = {}): HostLookup {
  const settings = createNameFiles({ ...systemPaths, ...options });
  const turns = createTurns({
    overall: overallMax,
    perOwner: options.perOwner ?? perOwnerMax,
    waiting: waitingMax,
  });
  const owners = createBoundedMap<string, Owner>(ownersMax);

  function ownerOf(name: string, { servers }: NameSettings): Owner {
    const found = owners.get(name);
    if (found?.servers === servers) return found;
    const resolver = new Resolver({ timeout: questionMs, tries: triesMax, maxTimeout: questionMaxMs });
    if (options.servers !== undefined) resolver.setServers(options.servers);
    const known = createBoundedMap<string, Known>(answersMax);
    const owner = { servers, resolver, underWay: new Map<string, Promise<NameAnswer>>(), known };
    owners.set(name, owner);
    return owner;
  }

  function answerOf(owner: Owner, ownerName: string, name: string): Promise<NameAnswer> {
    const running = owner.underWay.get(name);
    if (running !== undefined) return running;
    const asked = new Promise<NameAnswer>((resolve) => {
      const begin = async () => resolve(await search(owner.resolver, fullNames(name, settings().rules)));
      if (!turns.enter(ownerName, begin)) resolve(silence);
    });
    const kept = asked.then((answer) => {
      owner.underWay.delete(name);
      const ms = answer.kind === 'found' ? Math.min(answer.ttlMs, foundMaxMs) : failedMs;
      if (ms > 0) owner.known.set(name, { answer, until: performance.now() + ms });
      return answer;
    });
    owner.underWay.set(name, kept);
    return kept;
  }

  return async (hostname, ownerName = '') => {
    const name = hostname.toLowerCase();
    const family = isIP(name);
    if (family !== 0) return [{ address: name, family }];
    const present = settings();
    const bare = name.replace(/\.$/, '');
    const listed = present.hosts.get(bare) ?? reservedAddresses(bare);
    if (listed !== null) return listed;
    const owner = ownerOf(ownerName, present);
    const known = owner.known.get(name);
    const isFresh = known !== undefined && known.until > performance.now();
    const answer = isFresh ? known.answer : await answerOf(owner, ownerName, name);
    if (answer.kind !== 'found')
      throw new HostLookupError(hostname, answer.kind === 'none' ? 'ENOTFOUND' : 'EAI_AGAIN');
    return inOrder(answer.addresses, present.hasIpv6);
  };
}

/** Asks for one full name after the other until one has addresses, as long as there is time. */
async function search(resolver: Resolver, names: readonly string[]): Promise<NameAnswer> {
  let worst: NameAnswer = { kind: 'none' };
  const late = new AbortController();
  const ended = delay(lookupMs, silence, { signal: late.signal }).catch(() => silence);
  try {
    for (const name of names) {
      const answer = await Promise.race([askServers(resolver, name), ended]);
      if (answer.kind === 'found' || (answer.kind === 'failed' && answer.silent)) return answer;
      if (answer.kind === 'failed') worst = answer;
    }
    return worst;
  } finally {
    late.abort();
  }
}

// The family first that this machine can probably reach; a connection tries the other one soon after.
function inOrder(addresses: readonly LookupAddress[], ipv6First: boolean): readonly LookupAddress[] {
  const first = ipv6First ? 6 : 4;
  return addresses.toSorted((a, b) => Number(b.family === first) - Number(a.family === first));
}
