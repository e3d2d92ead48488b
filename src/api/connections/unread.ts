import type { Socket } from 'node:net';

/** How a client takes what was sent to it: the bytes so far, and for how long it has been waited for. */
export interface Unread {
  /** Bytes that the system has taken for the client since the connection began. */
  readonly taken: number;
  /** Milliseconds on the clock of `performance.now()`. */
  readonly at: number;
  /** Milliseconds; negative after more was taken than the least pace asks for. */
  readonly waitedMs: number;
}

/** Minimum number of bytes that a client takes in a second: 32 kbit/s. */
export const paceBytes = 4_096;
// Maximum milliseconds that a client may be ahead: the system takes large bites for a client on a fast line.
const aheadMsMax = 30_000;

/**
 * How long a client has been waited for, after another look; null when nothing waits for it. Pure. Each
 * second counts, and each `paceBytes` taken since the look before take one off.
 */
export function lookAgain(
  before: Unread | null,
  seen: { readonly taken: number; readonly waits: boolean; readonly at: number },
): Unread | null {
  const { taken, waits, at } = seen;
  if (!waits) return null;
  // The system takes a first bite by itself; that says nothing about the client.
  if (before === null) return { taken, at, waitedMs: 0 };
  const earnedMs = ((taken - before.taken) / paceBytes) * 1_000;
  return { taken, at, waitedMs: Math.max(-aheadMsMax, before.waitedMs + (at - before.at) - earnedMs) };
}

// Node has no public name for the bytes that the system has not taken yet; its own idle timeout reads this.
interface Handle {
  readonly bytesWritten: number;
  readonly writeQueueSize: number;
}

/** Bytes that the system has taken from a connection, and whether more wait. */
export function takenFrom(socket: Socket): { readonly taken: number; readonly waits: boolean } {
  const { _handle: handle } = socket as unknown as { readonly _handle: Handle | null };
  const taken = handle === null ? 0 : handle.bytesWritten - handle.writeQueueSize;
  return { taken, waits: socket.writableLength > 0 };
}
