import type { HostLookup } from '../names/host-lookup.ts';
import type { EgressPolicy } from './address-policy.ts';
import { resolveCallbackHost, type UrlCheck } from './url-policy.ts';

// Maximum number of lookups under way for checks: of all accounts, and of one.
const overallMax = 256;
const perAccountMax = 16;

/**
 * Checks where the name in a URL leads, as resolveCallbackHost does, for the account that registers it. A
 * name whose lookup would be one too many passes unseen, like one that does not resolve in time: every
 * address is vetted again when it is dialled. No registration therefore waits for the lookups of others.
 */
export function createHostCheck(deps: {
  readonly policy: EgressPolicy;
  readonly lookup: HostLookup;
  readonly timeoutMs: number;
}): (url: URL, account: string) => Promise<UrlCheck> {
  const underWay = new Map<string, number>();
  let overall = 0;

  function count(account: string, change: 1 | -1): void {
    overall += change;
    const left = (underWay.get(account) ?? 0) + change;
    if (left === 0) underWay.delete(account);
    else underWay.set(account, left);
  }

  return async (url, account) => {
    if (overall >= overallMax || (underWay.get(account) ?? 0) >= perAccountMax) return { ok: true, url };
    // The lookup may go on after the check has answered, and counts until its end.
    const lookup: HostLookup = async (hostname) => {
      count(account, 1);
      try {
        return await deps.lookup(hostname, `checks ${account}`);
      } finally {
        count(account, -1);
      }
    };
    return resolveCallbackHost(url, { ...deps, lookup });
  };
}
