import { setTimeout as delay } from 'node:timers/promises';
import type { RedisClient } from '../connection/open-client.ts';

/** A member removed from the sorted set. */
export interface Marker {
  readonly member: string;
  readonly score: number;
}

/** Blocking reads of a sorted set, one after the other, over a connection of its own. */
export interface MarkerWait {
  /**
   * Takes the member with the lowest score. Null: there was none for `seconds` (two at most), Redis did not
   * answer within six, or `stop` was called. Never rejects. A member whose reply is lost is gone.
   */
  wait(key: string, seconds: number): Promise<Marker | null>;
  /** Ends the wait under way and the connection; another wait opens another one. */
  stop(): void;
}

// Maximum seconds of one blocking read.
const longestSeconds = 2;
// Milliseconds beyond the time for which a read blocks. A peer that has not answered by then is taken for
// dead. That is a little later than on other connections, because the script that takes the job is sent right
// afterwards over such a connection, which must be alive.
const lateMs = 4_000;
// Milliseconds until the next attempt to connect.
const pauseMs = 500;

/**
 * `open` creates a client for this wait alone. The client is discarded when a read fails or is late. A client
 * that reconnects sends a blocking read again, and may then wait for ever, or for a member that is no longer
 * wanted.
 */
export function createMarkerWait(open: () => RedisClient): MarkerWait {
  let client: RedisClient | null = null;
  let stopping = new AbortController();

  async function read(key: string, seconds: number): Promise<Marker | null> {
    client ??= open();
    const { promise: ended, reject } = Promise.withResolvers<never>();
    const end = () => reject(new Error('no reply in time'));
    const timer = setTimeout(end, seconds * 1_000 + lateMs);
    stopping.signal.addEventListener('abort', end, { once: true });
    try {
      const reply = await Promise.race([client.bzpopmin(key, seconds), ended]);
      return reply === null ? null : { member: reply[1], score: Number(reply[2]) };
    } finally {
      clearTimeout(timer);
      stopping.signal.removeEventListener('abort', end);
    }
  }

  function discard(): void {
    client?.disconnect();
    client = null;
  }

  return {
    async wait(key, seconds) {
      const { signal } = stopping;
      try {
        return await read(key, Math.min(seconds, longestSeconds));
      } catch {
        discard();
        await delay(pauseMs, undefined, { signal }).catch(() => undefined);
        return null;
      }
    },
    stop() {
      stopping.abort();
      stopping = new AbortController();
      discard();
    },
  };
}
