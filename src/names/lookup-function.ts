import type { LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';

/** A lookup as sockets of Node call it. `find` gives every address, or rejects. */
export function lookupFunction(
  find: (hostname: string) => Promise<readonly LookupAddress[]>,
): LookupFunction {
  return (hostname, { all = false }, callback) => {
    find(hostname).then(
      (addresses) => {
        const [first] = addresses;
        if (all) process.nextTick(callback, null, [...addresses]);
        else process.nextTick(callback, null, first?.address ?? '', first?.family ?? 0);
      },
      (error: unknown) => process.nextTick(callback, error, ''),
    );
  };
}
