import { randomBytes } from 'node:crypto';
import { openSubscription } from '../subscriptions/stored-subscription.ts';
import type { Block, Subscription } from '../subscriptions/subscription.ts';
import type { Sealer } from '../secrets/seal.ts';
import { blockAfter, isLasting, UnusableSettingsError } from './block-policy.ts';
import { drainSubscription, type DrainDeps, type DrainResult } from './drain.ts';
import { createKeptLanes } from './kept-lanes.ts';
import {
  createCallbackSender,
  type CallbackSender,
  type SendCallbackDeps,
  type Sent,
} from './send-callback.ts';

/** Delivery to subscriptions by name. */
export interface SubscriptionDrainer {
  /**
   * One drain; see `drainSubscription`. Settings that cannot be used block the subscription: then nothing is sent, and it wants to be drained
   * again after a pause that grows with each time.
   */
  drain(
    account: string,
    id: string,
    signal: AbortSignal,
    othersWait: () => Promise<boolean>,
  ): Promise<DrainResult>;
  /** Sends one `ping`, signed like any callback, and tells what came of it. Nothing is written. */
  ping(subscription: Subscription): Promise<Sent>;
}

export interface SubscriptionDrainerDeps
  extends Omit<DrainDeps, 'open' | 'othersWait' | 'keptLanes'>, SendCallbackDeps {
  readonly sealer: Sealer;
  /** A drain was in vain: nothing is sent until somebody acts. */
  readonly onBlocked: (account: string, id: string, block: Block) => void;
}

interface Opened {
  readonly settings: string;
  readonly subscription: Subscription;
  readonly send: CallbackSender;
}

// Opening a subscription's secrets costs more than signing a callback; those of so many subscriptions are kept open.
const openedMax = 20_000;

/** A drainer that keeps the subscriptions it has seen ready to send. */
export function createSubscriptionDrainer(deps: SubscriptionDrainerDeps): SubscriptionDrainer {
  const opened = new Map<string, Opened>();
  const keptLanes = createKeptLanes();

  function open(account: string, id: string, settings: string): Opened {
    const key = `${account}/${id}`;
    const known = opened.get(key);
    if (known?.settings === settings) return known;
    const subscription = openUsable(deps.sealer, account, settings);
    const made = { settings, subscription, send: createCallbackSender(deps, subscription) };
    if (opened.size >= openedMax) opened.clear();
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
    // Somebody has changed it meanwhile: perhaps it can be drained now.
    if (!(await deps.blocks.set(account, id, settings, block))) return { wakeAt: now };
    deps.onBlocked(account, id, block);
    return { wakeAt: block.nextAt };
  }

  return {
    async drain(account, id, signal, othersWait) {
      try {
        return await drainSubscription({ ...deps, open, othersWait, keptLanes }, account, id, signal);
      } catch (error) {
        if (!(error instanceof UnusableSettingsError)) throw error;
        return holdBack(account, id, error);
      }
    },
    ping(subscription) {
      const { account, id } = subscription;
      const timestamp = new Date(deps.wallClock()).toISOString();
      const body = JSON.stringify({ type: 'ping', timestamp, data: { account, subscription: id } });
      const entry = { id: `evt_${randomBytes(16).toString('hex')}`, filingId: '', body: Buffer.from(body) };
      return createCallbackSender(deps, subscription)(entry);
    },
  };
}

function openUsable(sealer: Sealer, account: string, settings: string): Subscription {
  try {
    return openSubscription(sealer, account, settings);
  } catch (error) {
    throw isLasting(error) ? new UnusableSettingsError(settings, error) : error;
  }
}
