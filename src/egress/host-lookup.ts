import { lookup as systemLookup } from 'node:dns/promises';
import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import type { EgressPolicy } from './address-policy.ts';

/**
 * Finds every address of a host name. Rejects with the resolver's error code (ENOTFOUND, EAI_AGAIN, …) when
 * there is none.
 */
export type HostLookup = (hostname: string) => Promise<readonly LookupAddress[]>;

/** At least one address of the host is not permitted. Its message names neither host nor address. */
export class BlockedAddressError extends Error {
  override readonly name = 'BlockedAddressError';
  readonly code = 'ERR_BLOCKED_ADDRESS';

  constructor() {
    super('not a permitted callback destination');
  }
}

/**
 * The machine's resolver, with hosts files and search domains. Concurrent lookups of a name share one result:
 * getaddrinfo blocks one of few threads, and a dead name must not take all of them. Nothing is cached.
 */
export function createHostLookup(): HostLookup {
  const pending = new Map<string, Promise<LookupAddress[]>>();
  return (hostname) => {
    const running = pending.get(hostname);
    if (running !== undefined) return running;
    const started = systemLookup(hostname, { all: true }).finally(() => pending.delete(hostname));
    pending.set(hostname, started);
    return started;
  };
}

/**
 * The vetted addresses of a host name or address literal (without brackets). One refused address refuses the
 * host, because the system chooses which of them is dialled. Throws BlockedAddressError or the lookup's
 * error.
 */
export async function lookupVetted(
  hostname: string,
  deps: { readonly policy: EgressPolicy; readonly lookup: HostLookup },
): Promise<readonly LookupAddress[]> {
  const family = isIP(hostname);
  const addresses = family === 0 ? await deps.lookup(hostname) : [{ address: hostname, family }];
  if (addresses.length === 0 || !addresses.every(({ address }) => deps.policy.isAllowed(address))) {
    throw new BlockedAddressError();
  }
  return addresses;
}
