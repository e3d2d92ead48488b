import type { BlockStore } from '../blocked/block-store.ts';
import { createLanes, type Lane } from '../schedule/lanes.ts';
import type { Claim } from '../store/replies.ts';
import type { SubscriptionWindows } from '../window/places.ts';
import { openSession, type SessionDeps, type Stop } from './drain-session.ts';
import type { LaneCache, LanesOfDrain } from './lane-cache.ts';
import { entriesAtOnce } from './log-reader.ts';

/** How a drain ended. */
export interface DrainResult {
  /** When the subscription is to be drained again, in milliseconds; null when nothing is left to do. */
  readonly wakeAt: number | null;
}

export interface DrainDeps extends SessionDeps {
  /** Whether other subscriptions wait for this one's place. */
  readonly othersWait: () => Promise<boolean>;
  readonly laneCache: LaneCache;
  readonly windows: SubscriptionWindows;
  readonly blocks: BlockStore;
}

// Milliseconds for which a drain goes on although other subscriptions wait.
const timeSliceMs = 5_000;
// Milliseconds after which a drain checks again whether other subscriptions wait.
const sliceExtensionMs = 1_000;

/**
 * Delivers the outstanding events of a subscription: first attempts from the log after its cursor, lanes that
 * are due, and replays. Each result is written before its filing's next event is sent. The drain ends when
 * nothing can be sent now, when its time slice is over and other subscriptions wait, or when the signal
 * aborts; callbacks in flight are finished first. Two drains of one subscription at once are harmless: Redis
 * refuses the earlier one's writes, and it stops. Rejects when Redis fails or `open` throws, as soon as
 * nothing is in flight; the next drain sends those events again under the same ids.
 */
export async function drainSubscription(
  deps: DrainDeps,
  account: string,
  id: string,
  signal: AbortSignal,
): Promise<DrainResult> {
  const kept = deps.laneCache.remove(account, id);
  const claim = await deps.store.claim(account, id, entriesAtOnce(deps.maxInFlight), kept);
  if (claim === null || !claim.delivery.enabled) return { wakeAt: null };
  const places = deps.windows.open(account, id, deps.now());
  const session = openSession(deps, account, id, claim, lanesOf(claim, kept), places);
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
  } finally {
    places.close();
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

// The slice is measured on the monotonic clock, because a clock that is set back would lengthen it.
function createTimeSlice({ othersWait }: DrainDeps): () => Promise<boolean> {
  let endsAt = performance.now() + timeSliceMs;
  return async () => {
    if (performance.now() < endsAt) return false;
    endsAt = performance.now() + sliceExtensionMs;
    return othersWait();
  };
}
