import { createBoundedMap } from '../memory/bounded-map.ts';

/** Bytes from which on a body is heavy. What is made of a smaller one is made as fast as it is found. */
export const heavyBytes = 8 * 1024;
// Maximum bytes of the bodies whose results are kept.
const keptBytesMax = 4 * 1024 * 1024;
// Number of first bytes by which a body is looked up: they hold the time and the filing of its event.
const keyBytes = 256;

/**
 * Makes something of the bodies of events, of a heavy one once for all subscriptions that want it: the latest
 * 4 MiB of these are remembered, and compared byte by byte.
 */
export function createBodyMemo<T>(make: (body: Buffer) => T): (body: Buffer) => T {
  const kept = createBoundedMap<string, { readonly body: Buffer; readonly made: T }>(
    keptBytesMax,
    ({ body }) => body.length,
  );
  return (body) => {
    if (body.length < heavyBytes) return make(body);
    const key = body.toString('latin1', 0, keyBytes);
    const known = kept.get(key);
    if (known?.body.equals(body) === true) return known.made;
    const made = make(body);
    kept.set(key, { body, made });
    return made;
  };
}
