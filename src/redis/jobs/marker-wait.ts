import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';

/** A member removed from the sorted set. */
export interface Marker {
  readonly member: string;
  readonly score: number;
}

/** Blocking reads of sorted sets, one after the other, over one connection for all of them. */
export interface MarkerWait {
  /**
   * Takes the member with the lowest score, also one that was taken while this key was not waited for, where
   * one stands for several. Null:
   * there was none for `seconds` (two at most), Redis did not answer within six, or `stop` was called. Never
   * rejects. A member whose reply is lost is gone.
   */
  wait(key: string, seconds: number): Promise<Marker | null>;
  /** Ends the wait for a key. The connection ends with that for the last key; another wait opens another. */
  stop(key: string): void;
}

export interface MarkerWaitOptions {
  /** Creates a client for these waits alone. In a cluster all keys are of one slot, whose node it is of. */
  readonly open: (key: string) => Promise<Redis>;
  /** Whether another job could begin now: only then is a member taken that no worker waits for. */
  readonly hasPlace: () => boolean;
}

interface Waiter {
  /** The member with the lowest score of those that were taken while its worker did not wait. */
  held: Marker | null;
  /** Number of those members. */
  heldReads: number;
  resolve: ((marker: Marker | null) => void) | null;
}

// Maximum seconds of one blocking read.
const longestSeconds = 2;
// Seconds of a read that leaves a key out, or to which one may be about to be added: it joins in the next
// one.
const partSeconds = 0.1;
// Number of members taken while a worker does not wait from which on reads leave its key out: each costs a
// reply, and the worker comes for all of them when it has time.
const heldReadsMax = 3;
// Number of such reads after a start, while one worker after the other begins to wait.
const firstReads = 20;
// Milliseconds beyond the time for which a read blocks. A peer that has not answered by then is taken for
// dead. That is a little later than on other connections, because the script that takes the job is sent right
// afterwards over such a connection, which must be alive.
const lateMs = 4_000;
// Milliseconds until the next attempt to connect.
const pauseMs = 500;

/**
 * One read waits for all keys, so that any number of queues needs one connection. The client is discarded
 * when a read fails or is late. A client that reconnects sends a blocking read again, and may then wait for
 * ever, or for a member that is no longer wanted.
 */
export function createMarkerWait({ open, hasPlace }: MarkerWaitOptions): MarkerWait {
  const waiters = new Map<string, Waiter>();
  let client: Redis | null = null;
  let stopping = new AbortController();
  // Ends the pause of a reader that has nothing to wait for.
  let onWaiter: (() => void) | null = null;

  // The reads of one connection, until no key is left.
  async function readOn({ signal }: AbortController): Promise<void> {
    for (let reads = 0; !signal.aborted; reads += 1) {
      const keys = [...waiters].flatMap(([key, { heldReads, resolve }]) =>
        resolve !== null || (heldReads < heldReadsMax && hasPlace()) ? [key] : [],
      );
      if (keys.length === 0) {
        await untilWaiter(signal);
        continue;
      }
      try {
        const isPart = keys.length < waiters.size || reads < firstReads;
        const seconds = isPart ? partSeconds : longestSeconds;
        const reply = await read(keys, seconds, signal);
        if (reply !== null) give(reply[0], { member: reply[1], score: Number(reply[2]) });
      } catch {
        if (signal.aborted) return;
        discard();
        await pause(pauseMs, signal);
        for (const key of keys) give(key, null);
      }
    }
  }

  // All are at work. One that waits is served at once; a place that becomes free is seen a little later.
  async function untilWaiter(signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    onWaiter = () => over.abort();
    await pause(partSeconds * 1_000, AbortSignal.any([signal, over.signal]));
    onWaiter = null;
  }

  async function read(keys: readonly string[], seconds: number, signal: AbortSignal) {
    const { promise: ended, reject } = Promise.withResolvers<never>();
    const end = () => reject(new Error('no reply in time'));
    const timer = setTimeout(end, seconds * 1_000 + lateMs);
    signal.addEventListener('abort', end, { once: true });
    try {
      return await Promise.race([pop(keys, seconds, signal), ended]);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
    }
  }

  async function pop(keys: readonly string[], seconds: number, signal: AbortSignal) {
    if (client === null) {
      const opened = await open(keys[0] ?? '');
      if (signal.aborted || client !== null) {
        opened.disconnect();
        throw new Error('stopped meanwhile');
      }
      client = opened;
    }
    return client.bzpopmin(...keys, seconds);
  }

  function give(key: string, marker: Marker | null): void {
    const waiter = waiters.get(key);
    if (waiter === undefined) return;
    const { resolve } = waiter;
    waiter.resolve = null;
    if (resolve !== null) resolve(marker);
    else if (marker !== null) {
      waiter.held = waiter.held !== null && waiter.held.score <= marker.score ? waiter.held : marker;
      waiter.heldReads += 1;
    }
  }

  function discard(): void {
    client?.disconnect();
    client = null;
  }

  return {
    wait(key, seconds) {
      let waiter = waiters.get(key);
      if (waiter === undefined) {
        waiter = { held: null, heldReads: 0, resolve: null };
        waiters.set(key, waiter);
        if (waiters.size === 1) void readOn(stopping);
      }
      const { held } = waiter;
      waiter.held = null;
      waiter.heldReads = 0;
      onWaiter?.();
      if (held !== null) return Promise.resolve(held);
      return new Promise((resolve) => {
        const timer = setTimeout(() => give(key, null), Math.min(seconds, longestSeconds) * 1_000);
        waiter.resolve = (marker) => {
          clearTimeout(timer);
          resolve(marker);
        };
      });
    },
    stop(key) {
      give(key, null);
      waiters.delete(key);
      if (waiters.size > 0) return;
      stopping.abort();
      stopping = new AbortController();
      discard();
    },
  };
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
