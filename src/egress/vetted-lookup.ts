import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import type { HostLookup } from '../names/host-lookup.ts';
import type { EgressPolicy } from './address-policy.ts';

/** At least one address of the host is not permitted. Its message names neither host nor address. */
export class BlockedAddressError extends Error {
  override readonly name = 'BlockedAddressError';
  readonly code = 'ERR_BLOCKED_ADDRESS';

  constructor() {
    super('not a permitted callback destination');
  }
}

/** A lookup, and the policy for the addresses that it finds. */
export interface VettingDeps {
  readonly policy: EgressPolicy;
  readonly lookup: HostLookup;
  /** The one whose lookup it is. */
  readonly owner?: string;
}

/**
 * The vetted addresses of a host name or address literal (without brackets). One refused address refuses the
 * host, because the system chooses which of them is dialled. Throws BlockedAddressError or the lookup's
 * error.
 */
export async function lookupVetted(hostname: string, deps: VettingDeps): Promise<readonly LookupAddress[]> {
  const family = isIP(hostname);
  const addresses = family === 0 ? await deps.lookup(hostname, deps.owner) : [{ address: hostname, family }];
  if (addresses.length === 0 || !addresses.every(({ address }) => deps.policy.isAllowed(address))) {
    throw new BlockedAddressError();
  }
  return addresses;
}
