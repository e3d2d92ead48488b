import type { ZObject } from 'zapier-platform-core';

// Seconds for which a Zap remembers an event.
const rememberedFor = 24 * 3600;

/**
 * Whether this Zap had the event in an earlier attempt or replay; remembers it. Zapier itself drops repeats of polling triggers alone. The same
 * attempt is no repeat: Zapier runs it anew after faults of its own. A cache that fails costs no event.
 */
export async function isRepeat(
  z: ZObject,
  subscription: string,
  event: { readonly id: string; readonly signedAt: string },
): Promise<boolean> {
  const key = `had:${subscription}:${event.id}`;
  try {
    const had: unknown = await z.cache.get(key);
    if (had !== null && had !== undefined) return had !== event.signedAt;
    await z.cache.set(key, event.signedAt, rememberedFor);
  } catch (error) {
    z.console.log(`The cache failed, repeats may pass: ${(error as Error).message}`);
  }
  return false;
}
