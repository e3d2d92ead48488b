import type { BlockStore } from '../blocked/block-store.ts';
import { createLanes, type Lane } from '../schedule/lanes.ts';
import type { Claim } from '../store/replies.ts';
import { entriesAtOnce, openSession, type SessionDeps, type Stop } from './drain-session.ts';
import type { LaneCache, LanesOfDrain } from './lane-cache.ts';

/**
 * A drain's end: when the subscription wants to be drained again (milliseconds), or null when nothing is left
 * to do.
 */
export interface DrainResult {
  readonly wakeAt: number | null;
}

export interface DrainDeps extends SessionDeps {
  /** True when other subscriptions wait for this one's place. */
  readonly othersWait: () => Promise<boolean>;
  readonly laneCache: LaneCache;
  readonly blocks: BlockStore;
}

const timeSliceMs = 5_000;
// After its time slice a drain asks again so often whether others wait.
const sliceExtensionMs = 1_000;

/**
 * Delivers what a subscription has not got yet: first tries from the log after its cursor, lanes that are
 * due, and replays. Each outcome is written before its filing's next event goes. Ends when nothing can be
 * sent now, when its time slice is over and others wait, or when the signal aborts; what is in flight is
 * finished first. Two drains of one subscription at once are harmless: the earlier one's writes are refused
 * and it stops. Rejects when Redis fails, once nothing is in flight any more; what was in flight is then sent
 * again by the next drain, under the same ids. So it does when `open` throws, for these settings or for later
 * ones.
 */
export async function drainSubscription(
  deps: DrainDeps,
  account: string,
  id: string,
  signal: AbortSignal,
): Promise<DrainResult> {
  const kept = deps.laneCache.remove(account, id);
  const claim = await deps.store.claim(account, id, entriesAtOnce(deps), kept);
  if (claim === null || !claim.delivery.enabled) return { wakeAt: null };
  const session = openSession(deps, account, id, claim, lanesOf(claim, kept));
  if (claim.delivery.blocked !== null) await deps.blocks.set(account, id, claim.settings, null);
  const isOver = createTimeSlice(deps);
  let stop: Stop | null = null;
  try {
    for (;;) {
      stop ??= signal.aborted ? 'shutdown' : (await isOver()) ? 'slice_over' : null;
      if (stop === null) {
        stop = await session.readOn();
        if (stop === null) session.startAll();
      }
      if (session.isIdle()) {
        const left = session.leave();
        if (left !== null) deps.laneCache.keep(account, id, left);
        return { wakeAt: session.wakeAt(stop) };
      }
      await session.waitForResults();
      stop = (await session.settle()) ?? stop;
    }
  } catch (error) {
    await session.untilSettled();
    throw error;
  }
}

function lanesOf(
  { lanes, delivery }: Claim,
  kept: LanesOfDrain | null,
): Pick<LanesOfDrain, 'lanes' | 'replay'> {
  return lanes === null && kept !== null
    ? kept
    : { lanes: createLanes(lanes ?? new Map<string, Lane>(), delivery.releasedAt), replay: null };
}

// By the monotonic clock: one that is set back would give the drain its place for as long.
function createTimeSlice({ othersWait }: DrainDeps): () => Promise<boolean> {
  let endsAt = performance.now() + timeSliceMs;
  return async () => {
    if (performance.now() < endsAt) return false;
    endsAt = performance.now() + sliceExtensionMs;
    return othersWait();
  };
}
