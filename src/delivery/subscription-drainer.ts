import { randomBytes } from 'node:crypto';
import { openSubscription } from '../subscriptions/stored-subscription.ts';
import type { Subscription } from '../subscriptions/subscription.ts';
import type { Sealer } from '../secrets/seal.ts';
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
  /** One drain; see `drainSubscription`. */
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
    const subscription = openSubscription(deps.sealer, account, settings);
    const made = { settings, subscription, send: createCallbackSender(deps, subscription) };
    if (opened.size >= openedMax) opened.clear();
    opened.set(key, made);
    return made;
  }

  return {
    drain: (account, id, signal, othersWait) =>
      drainSubscription({ ...deps, open, othersWait, keptLanes }, account, id, signal),
    ping(subscription) {
      const { account, id } = subscription;
      const timestamp = new Date(deps.wallClock()).toISOString();
      const body = JSON.stringify({ type: 'ping', timestamp, data: { account, subscription: id } });
      const entry = { id: `evt_${randomBytes(16).toString('hex')}`, filingId: '', body: Buffer.from(body) };
      return createCallbackSender(deps, subscription)(entry);
    },
  };
}
