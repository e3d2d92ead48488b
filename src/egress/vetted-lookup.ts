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

/**
 * The vetted addresses of a host name or address literal (without brackets). One refused address refuses the
 * host, because the system chooses which of them is dialled. `owner` is the one whose lookup it is. Throws
 * BlockedAddressError or the lookup's error.
 */
export async function lookupVetted(
  hostname: string,
  deps: { readonly policy: EgressPolicy; readonly lookup: HostLookup; readonly owner?: string },
): Promise<readonly LookupAddress[]> {
  const family = isIP(hostname);
  const addresses = family === 0 ? await deps.lookup(hostname, deps.owner) : [{ address: hostname, family }];
  if (addresses.length === 0 || !addresses.every(({ address }) => deps.policy.isAllowed(address))) {
    throw new BlockedAddressError();
  }
  return addresses;
}
