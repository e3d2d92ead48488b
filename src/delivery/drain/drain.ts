import { setTimeout as delay } from 'node:timers/promises';
import type { BlockStore } from '../blocked/block-store.ts';
import { createLanes, type Lane } from '../schedule/lanes.ts';
import type { Claim } from '../store/replies.ts';
import type { SubscriptionWindows } from '../window/places.ts';
import type { Newcomers } from '../../waiting/newcomers.ts';
import { judgeInTurns } from '../../subscriptions/content-filter/selection.ts';
import { openSession, type SessionDeps, type Stop } from './drain-session.ts';
import type { LaneCache, LanesOfDrain } from './lane-cache.ts';
import { entriesAtOnce } from './log-reader.ts';

/** How a drain ended. */
export interface DrainResult {
  /** When the subscription is to be drained again, in milliseconds; null when nothing is left to do. */
  readonly wakeAt: number | null;
}

/** Whether other subscriptions wait for this one's place. */
type OthersWait = () => Promise<boolean>;

export interface DrainDeps extends SessionDeps {
  readonly laneCache: LaneCache;
  readonly windows: SubscriptionWindows;
  readonly blocks: BlockStore;
  readonly turns: Newcomers;
}

// Milliseconds for which a drain goes on although other subscriptions wait.
const timeSliceMs = 5_000;
// Maximum milliseconds for which a drain with nothing in flight stays for its next turn.
const stayMsMax = 1_100;
// Milliseconds. If the rate allows the next attempt later than that, no new event wakes the subscription
// before.
const farMs = 1_500;
// Milliseconds after which a drain checks again whether other subscriptions wait.
const sliceExtensionMs = 1_000;

/**
 * Delivers the outstanding events of a subscription: first attempts from the log after its cursor, lanes that
 * are due, and replays. Each result is written before its filing's next event is sent. The drain ends when
 * nothing can be sent now, when its time slice is over and other subscriptions wait, or when the signal
 * aborts; callbacks in flight are finished first. For each of its steps it waits for its turn among the
 * drains of the process, in which the accounts alternate. Two drains of one subscription at once are
 * harmless: Redis refuses the earlier one's writes, and it stops. Rejects when Redis fails or `open` throws,
 * as soon as nothing is in flight; the next drain sends those events again under the same ids.
 */
export async function drainSubscription(
  deps: DrainDeps,
  account: string,
  id: string,
  signal: AbortSignal,
  othersWait: OthersWait,
): Promise<DrainResult> {
  let endTurn = await deps.turns.begin(1, account);
  try {
    return await drainInTurns(deps, account, id, signal, othersWait, async () => {
      endTurn(1);
      endTurn = await deps.turns.begin(1, account);
    });
  } finally {
    endTurn(1);
  }
}

async function drainInTurns(
  deps: DrainDeps,
  account: string,
  id: string,
  signal: AbortSignal,
  othersWait: OthersWait,
  nextTurn: () => Promise<void>,
): Promise<DrainResult> {
  const kept = deps.laneCache.remove(account, id);
  const claim = await deps.store.claim(account, id, entriesAtOnce(deps.maxInFlight), kept);
  if (claim === null || !claim.delivery.enabled) return { wakeAt: null };
  // Its session accepts the entries at once, and a filter judges them.
  const { subscription } = deps.open(account, id, claim.settings);
  await judgeInTurns(deps.judge, subscription, claim.read.entries);
  const places = deps.windows.open(account, id, deps.now());
  const session = openSession(deps, account, id, claim, lanesOf(claim, kept), places);
  if (claim.delivery.blocked !== null) await deps.blocks.set(account, id, claim.settings, null);
  let sliceEndsAt = performance.now() + timeSliceMs;
  let stop: Stop | null = null;
  try {
    const heldUntil = session.heldUntil();
    if (heldUntil !== null) return { wakeAt: heldUntil };
    for (;;) {
      if (signal.aborted) stop ??= 'shutdown';
      // The slice is measured on the monotonic clock, because a clock that is set back would lengthen it.
      else if (stop === null && performance.now() >= sliceEndsAt) {
        sliceEndsAt = performance.now() + sliceExtensionMs;
        if (await othersWait()) stop = 'slice_over';
      }
      if (stop === null) {
        const reads = session.mayRead();
        // Events that have been read do not wait for others, unless a retry or a replay would take the
        // place of a live event that is yet to be read.
        if (reads && session.fillsPlaces()) stop = session.startAll();
        if (reads && stop === null) stop = await session.readOn();
        if (stop === null) stop = session.startAll();
      }
      const turnInMs = stop === null ? session.turnInMs() : null;
      if (session.isIdle() && (stop !== null || !(await staysForTurn(othersWait, turnInMs)))) {
        if ((turnInMs ?? 0) > farMs && !session.rests()) {
          stop = await session.rest();
          continue;
        }
        const left = session.leave();
        if (left !== null) deps.laneCache.keep(account, id, left);
        return { wakeAt: session.wakeAt(stop) };
      }
      if (session.isIdle())
        await delay(Math.ceil(turnInMs ?? 0), undefined, { signal }).catch(() => undefined);
      else await session.waitForResults(turnInMs);
      await nextTurn();
      const found = await session.settle();
      // The subscription may be enabled again, or last longer, while callbacks are in flight.
      stop = found ?? (stop === 'disabled' || stop === 'expired' ? null : stop);
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

// A drain that only waits for its rate ends if that takes long, or if others need its place. It is woken
// again when the rate allows an attempt.
async function staysForTurn(othersWait: OthersWait, turnInMs: number | null): Promise<boolean> {
  return turnInMs !== null && turnInMs <= stayMsMax && !(await othersWait());
}
