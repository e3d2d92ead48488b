import type { ZObject } from 'zapier-platform-core';

/** Seconds for which a Zap remembers an event after it came last. */
export const rememberedFor = 24 * 3600;

/**
 * Whether this Zap had the event before, in this attempt, another one or a replay; remembers it. Zapier itself drops repeats of polling
 * triggers alone. A cache that fails costs no event.
 */
export async function isRepeat(
  z: ZObject,
  subscription: string,
  event: { readonly id: string },
): Promise<boolean> {
  const key = `had:${subscription}:${event.id}`;
  let had: unknown = null;
  try {
    had = await z.cache.get(key);
    // Also after a repeat, whose signature is taken for longer.
    await z.cache.set(key, true, rememberedFor);
  } catch (error) {
    z.console.log(`The cache failed, repeats may pass: ${(error as Error).message}`);
  }
  return had !== null && had !== undefined;
}
