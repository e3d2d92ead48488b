import type { OpenReplay } from '../replay/replay-source.ts';
import type { Lanes } from '../schedule/lanes.ts';
import type { DrainFence } from '../store/delivery-store.ts';

/**
 * The lanes of a subscription as a drain left them, all of it written. They are what Redis holds as long as
 * the drain's last write is the latest.
 */
export interface LanesOfDrain extends DrainFence {
  readonly lanes: Lanes;
  /** The replay it worked on, with its lanes; null when there was none. */
  readonly replay: OpenReplay | null;
}

/**
 * Keeps large sets of lanes from one drain to the next. Reading ten thousand of them for every event takes
 * Redis and this process 50 ms, and an endpoint that fails for part of its filings only may have as many. It
 * only saves time: lanes that are not kept are read from Redis.
 */
export interface LaneCache {
  /** Removes and returns the lanes of a subscription; null when there are none. */
  remove(account: string, id: string): LanesOfDrain | null;
  /** Keeps them if that is worth it. */
  keep(account: string, id: string, left: LanesOfDrain): void;
}

// Minimum number of lanes of a subscription that are worth keeping.
const worthKeeping = 100;
// Maximum number of lanes kept in all.
const lanesMax = 100_000;

/** An empty cache. When it is full the oldest lanes make room. */
export function createLaneCache(): LaneCache {
  const all = new Map<string, LanesOfDrain>();
  let size = 0;

  function remove(key: string): LanesOfDrain | null {
    const kept = all.get(key);
    if (kept === undefined) return null;
    all.delete(key);
    size -= sizeOf(kept);
    return kept;
  }

  return {
    remove: (account, id) => remove(`${account}/${id}`),
    keep(account, id, left) {
      const key = `${account}/${id}`;
      const count = sizeOf(left);
      remove(key);
      if (count < worthKeeping || count > lanesMax) return;
      for (const oldest of all.keys()) {
        if (size + count <= lanesMax) break;
        remove(oldest);
      }
      all.set(key, left);
      size += count;
    },
  };
}

// Number of lanes, and of positions of a replay.
function sizeOf({ lanes, replay }: LanesOfDrain): number {
  const ofReplay = replay === null ? 0 : replay.lanes.all().size + (replay.replay.positions?.length ?? 0);
  return lanes.all().size + ofReplay;
}
