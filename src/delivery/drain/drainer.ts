import { randomBytes } from 'node:crypto';
import { toUnreadable, type ReportStanding } from '../../redis/unreadable-record.ts';
import { createFilterJudge } from '../../subscriptions/content-filter/judge.ts';
import { openSubscription } from '../../subscriptions/store/stored-subscription.ts';
import type { Block, Subscription } from '../../subscriptions/subscription.ts';
import type { Sealer } from '../../secrets/seal.ts';
import { blockAfter, isLasting, UnusableSettingsError, UnverifiedError } from '../blocked/block-policy.ts';
import { isUnverified } from '../../subscriptions/options/verification.ts';
import { isExpired } from '../../subscriptions/options/expires-at.ts';
import type { EndExpired } from '../expiry.ts';
import type { Verifier } from '../ownership.ts';
import { toAttempt } from '../store/delivery-records.ts';
import { drainSubscription, type DrainDeps, type DrainResult } from './drain.ts';
import type { ReadySubscription } from './drain-session.ts';
import { createLaneCache } from './lane-cache.ts';
import { createBusyWatch } from '../../waiting/busy-process.ts';
import { createNewcomers } from '../../waiting/newcomers.ts';
import { createSubscriptionWindows } from '../window/places.ts';
import { createCallbackSender, type SendCallbackDeps, type Sent } from '../../callbacks/send-callback.ts';
import { createBoundedMap } from '../../memory/bounded-map.ts';
import { createCounts } from '../../memory/counts.ts';

/** Delivery to subscriptions by name. */
export interface SubscriptionDrainer {
  /**
   * One drain; see `drainSubscription`. Settings that cannot be used block the subscription: nothing is sent,
   * and it is drained again after a pause that grows each time. Nothing but a question is sent to an endpoint
   * that has yet to be verified.
   */
  drain(
    account: string,
    id: string,
    signal: AbortSignal,
    othersWait: () => Promise<boolean>,
  ): Promise<DrainResult>;
  /**
   * Sends one `ping`, signed like any callback, and returns its result, which is written as an attempt. It
   * says nothing about the endpoint's health. Rejects when Redis does, although the `ping` was sent.
   */
  ping(subscription: Subscription): Promise<Sent>;
}

export interface SubscriptionDrainerDeps
  extends
    Omit<DrainDeps, 'open' | 'laneCache' | 'windows' | 'turns' | 'othersRead' | 'judge'>,
    SendCallbackDeps {
  readonly sealer: Sealer;
  readonly verifier: Pick<Verifier, 'whenDue'>;
  /** Called when a record cannot be read without which nothing is sent to the subscription. */
  readonly reportStanding: ReportStanding;
  readonly endExpired: EndExpired;
  /** Called after a failed drain has blocked the subscription; nothing is sent until an operator acts. */
  readonly onBlocked: (account: string, id: string, block: Block) => void;
}

interface KeptReady extends ReadySubscription {
  readonly settings: string;
}

// Maximum number of subscriptions kept ready: opening the secrets of one costs more than signing a callback.
const openedMax = 20_000;
// Maximum number of drains that have their turn at once. With more, one turn of the event loop takes more
// than 50 ms. A drain whose endpoint takes long makes way for another.
const turnsMax = 40;
// Milliseconds until a subscription is drained again whose block could not be written.
const cannotBlockMs = 5_000;

/** A drainer that keeps the subscriptions it has seen ready to send. */
export function createSubscriptionDrainer(deps: SubscriptionDrainerDeps): SubscriptionDrainer {
  const opened = createBoundedMap<string, KeptReady>(openedMax);
  const laneCache = createLaneCache();
  const judge = createFilterJudge();
  const windows = createSubscriptionWindows(deps.maxInFlight, createBusyWatch());
  const turns = createNewcomers({ max: turnsMax });
  const drains = createCounts();
  const othersRead = (account: string) => drains.of(account) > 1;
  // Made once: a short drain is cheaper than a copy of what all drains have in common.
  const ofAll: DrainDeps = { ...deps, open, laneCache, windows, turns, othersRead, judge };

  function open(account: string, id: string, settings: string): ReadySubscription {
    const key = `${account}/${id}`;
    const known = opened.get(key);
    if (known?.settings === settings) return known;
    const subscription = openUsable(deps.sealer, account, id, settings);
    if (isUnverified(subscription)) throw new UnverifiedError(settings, subscription);
    const made = { settings, subscription, send: createCallbackSender(deps, subscription) };
    opened.set(key, made);
    return made;
  }

  async function holdBack(
    account: string,
    id: string,
    { settings, message }: UnusableSettingsError,
  ): Promise<DrainResult> {
    const now = deps.now();
    const block = blockAfter(await deps.blocks.read(account, id), message, now, deps.random);
    // The settings have changed meanwhile, so the subscription may be drained now. Bytes that are not text
    // never equal the text that was read.
    const isText = !settings.includes('\uFFFD');
    if (!(await deps.blocks.set(account, id, settings, block)))
      return { wakeAt: isText ? now : block.nextAt };
    deps.onBlocked(account, id, block);
    return { wakeAt: block.nextAt };
  }

  // Blocks the subscription, if that can be written, until the operator repairs the record.
  async function holdBackUnreadable(account: string, id: string, error: unknown): Promise<DrainResult> {
    const unreadable = await deps.reportStanding(account, error);
    if (unreadable === null) throw error;
    try {
      const settings = await deps.blocks.settings(account, id);
      if (settings === null) return { wakeAt: null };
      const { wakeAt } = await holdBack(account, id, new UnusableSettingsError(settings, unreadable));
      // No block is written while it is disabled.
      return { wakeAt: Math.max(wakeAt ?? 0, deps.now() + cannotBlockMs) };
    } catch (failure) {
      if (toUnreadable(failure) === null) throw failure;
      return { wakeAt: deps.now() + cannotBlockMs };
    }
  }

  return {
    async drain(account, id, signal, othersWait) {
      drains.add(account);
      try {
        const result = await drainSubscription(ofAll, account, id, signal, othersWait);
        const { subscription } = opened.get(`${account}/${id}`) ?? {};
        if (result.wakeAt === null && subscription !== undefined && isExpired(subscription, deps.now()))
          await deps.endExpired(account, id);
        return result;
      } catch (error) {
        if (error instanceof UnusableSettingsError)
          return await holdBack(account, id, error).catch((failure: unknown) =>
            holdBackUnreadable(account, id, failure),
          );
        if (error instanceof UnverifiedError)
          return { wakeAt: await deps.verifier.whenDue(error.settings, error.subscription) };
        return await holdBackUnreadable(account, id, error);
      } finally {
        drains.remove(account);
      }
    },
    async ping(subscription) {
      const { account, id } = subscription;
      const timestamp = new Date(deps.wallClock()).toISOString();
      const body = JSON.stringify({ type: 'ping', timestamp, data: { account, subscription: id } });
      const name = { id: `evt_${randomBytes(16).toString('hex')}`, type: 'ping', filingId: '', position: 0 };
      const entry = { ...name, body: Buffer.from(body) };
      const sent = await createCallbackSender(deps, subscription)(entry);
      const now = deps.now();
      const attempt = toAttempt({ attempt: 1 }, entry, { sent, called: subscription }, now, null);
      await deps.store.addTest(account, id, attempt, now);
      return sent;
    },
  };
}

function openUsable(sealer: Sealer, account: string, id: string, settings: string): Subscription {
  try {
    return openSubscription(sealer, account, settings, { key: `subscriptions of ${account}`, field: id });
  } catch (error) {
    throw isLasting(error) ? new UnusableSettingsError(settings, error) : error;
  }
}
