// Milliseconds until a connection may be given up again for a refused write, at first and at most.
const firstMs = 500;
const mostMs = 5_000;
// Milliseconds without a refused write after which the next one begins anew: it belongs to another failover.
const calmMs = 30_000;

/**
 * Decides for one client whether its connection is given up because a server refused a write as read-only.
 * The first time it is, since after a failover a new connection finds the new master; a server that stays a
 * replica would otherwise make it connect many times a second. `now` counts milliseconds.
 */
export function createReadOnlyPace(now: () => number): (error: Error) => boolean {
  let nextAt = -Infinity;
  let refusedAt = -Infinity;
  let waitMs = 0;
  return ({ message }) => {
    if (!message.startsWith('READONLY')) return false;
    const at = now();
    if (at - refusedAt > calmMs) waitMs = 0;
    refusedAt = at;
    if (waitMs > 0 && at < nextAt) return false;
    waitMs = waitMs === 0 ? firstMs : Math.min(2 * waitMs, mostMs);
    nextAt = at + waitMs;
    return true;
  };
}
