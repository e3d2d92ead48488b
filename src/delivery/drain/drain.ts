import type { BlockStore } from '../blocked/block-store.ts';
import type { Claim } from '../store/delivery-store.ts';
import { createDrainRun, entriesAtOnce, type DrainRunDeps, type Stop } from './drain-session.ts';
import type { KeptLanes, LanesOfDrain } from '../schedule/lane-cache.ts';
import { createLaneSet } from '../schedule/lane-set.ts';
import type { Lane } from '../schedule/lanes.ts';

/**
 * A drain's end: when the subscription wants to be drained again (milliseconds), or null when nothing is left
 * to do.
 */
export interface DrainResult {
  readonly wakeAt: number | null;
}

export interface DrainDeps extends DrainRunDeps {
  /** True when other subscriptions wait for this one's place. */
  readonly othersWait: () => Promise<boolean>;
  readonly keptLanes: KeptLanes;
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
  const kept = deps.keptLanes.take(account, id);
  const claim = await deps.store.claim(account, id, entriesAtOnce(deps), kept);
  if (claim === null || !claim.delivery.enabled) return { wakeAt: null };
  const { lanes, replay } = standingOf(claim, kept);
  const run = createDrainRun(deps, account, id, claim, { lanes, replay });
  if (claim.delivery.blocked !== null) await deps.blocks.set(account, id, claim.settings, null);
  const isOver = createTimeSlice(deps);
  let stop: Stop | null = null;
  try {
    for (;;) {
      stop ??= signal.aborted ? 'shutdown' : (await isOver()) ? 'slice_over' : null;
      if (stop === null) {
        stop = await run.readOn();
        if (stop === null) run.startAll();
      }
      if (run.isIdle()) {
        const fence = run.fence();
        if (fence !== null) deps.keptLanes.keep(account, id, { ...fence, lanes, replay: run.replay() });
        return { wakeAt: run.wakeAt(stop) };
      }
      await run.waitForResults();
      stop = (await run.settle()) ?? stop;
    }
  } catch (error) {
    await run.untilLanded();
    throw error;
  }
}

function standingOf(
  { lanes, delivery }: Claim,
  kept: LanesOfDrain | null,
): Pick<LanesOfDrain, 'lanes' | 'replay'> {
  return lanes === null && kept !== null
    ? kept
    : { lanes: createLaneSet(lanes ?? new Map<string, Lane>(), delivery.releasedAt), replay: null };
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
