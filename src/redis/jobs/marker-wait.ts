import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';

/** A member removed from a sorted set. */
type Marker = { readonly member: string; readonly score: number };

// Maximum seconds of one blocking read.
const longestSeconds = 2;
// Milliseconds beyond the time for which a read blocks, after which its connection is taken for dead.
const lateMs = 4_000;
// Milliseconds until the next attempt.
const pauseMs = 500;

/**
 * Blocking reads of sorted sets, one at a time, over a connection of their own. The client that `open` makes
 * for a key is discarded when a read fails or is late: a client that reconnects sends a blocking read again,
 * and may then wait for ever.
 */
export function createMarkerWait(open: (key: string) => Redis) {
  const stopping = new AbortController();
  let client: Redis | null = null;

  function discard(): void {
    client?.disconnect();
    client = null;
  }

  async function read(key: string, seconds: number): Promise<Marker | null> {
    client ??= open(key);
    const ended = new AbortController();
    const signal = AbortSignal.any([stopping.signal, ended.signal]);
    try {
      // A client that is disconnected before its next attempt to connect never settles its commands.
      const late = delay(seconds * 1_000 + lateMs, undefined, { signal }).then(() => {
        throw new Error('Redis does not answer');
      });
      const reply = await Promise.race([client.bzpopmin(key, seconds), late]);
      return reply === null ? null : { member: reply[1], score: Number(reply[2]) };
    } finally {
      ended.abort();
    }
  }

  return {
    /**
     * Removes the member with the lowest score. Null: there was none for `seconds` (two at most), Redis did
     * not answer within four seconds more, no connection could be opened, or `stop` was called. Never
     * rejects. A member whose reply is lost is gone.
     */
    async wait(key: string, seconds: number): Promise<Marker | null> {
      try {
        return await read(key, Math.min(seconds, longestSeconds));
      } catch {
        discard();
        await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
        return null;
      } finally {
        if (stopping.signal.aborted) discard();
      }
    },
    /** Ends a wait under way, and all later ones. */
    stop(): void {
      stopping.abort();
      discard();
    },
  };
}
