import type { DrainFence } from '../store/delivery-store.ts';
import type { LaneSet } from './lane-set.ts';
import type { OpenReplay } from '../replay/replay-run.ts';

/**
 * The lanes of a subscription as a drain left them, all of it written: while its last write is the latest
 * they are what Redis holds.
 */
export interface LanesOfDrain extends DrainFence {
  readonly lanes: LaneSet;
  /** The replay it worked on, with its lanes; null when there was none. */
  readonly replay: OpenReplay | null;
}

/**
 * Keeps large sets of lanes from one drain to the next. Reading ten thousand of them for every event takes
 * Redis and this process 50 ms, and an endpoint that fails for part of its filings only may have as many.
 * Nothing depends on it: what is not kept is read from Redis.
 */
export interface KeptLanes {
  /** Takes them out; null when there are none. */
  take(account: string, id: string): LanesOfDrain | null;
  /** Keeps them if that is worth it. */
  keep(account: string, id: string, left: LanesOfDrain): void;
}

const worthKeeping = 100;
const lanesMax = 100_000;

/** Keeps nothing yet. When there is too much, what was kept first goes first. */
export function createKeptLanes(): KeptLanes {
  const all = new Map<string, LanesOfDrain>();
  let size = 0;

  function take(key: string): LanesOfDrain | null {
    const kept = all.get(key);
    if (kept === undefined) return null;
    all.delete(key);
    size -= sizeOf(kept);
    return kept;
  }

  return {
    take: (account, id) => take(`${account}/${id}`),
    keep(account, id, left) {
      const key = `${account}/${id}`;
      const count = sizeOf(left);
      take(key);
      if (count < worthKeeping || count > lanesMax) return;
      for (const oldest of all.keys()) {
        if (size + count <= lanesMax) break;
        take(oldest);
      }
      all.set(key, left);
      size += count;
    },
  };
}

// Lanes, and positions of a replay.
function sizeOf({ lanes, replay }: LanesOfDrain): number {
  const ofReplay = replay === null ? 0 : replay.lanes.all().size + (replay.replay.positions?.length ?? 0);
  return lanes.all().size + ofReplay;
}
