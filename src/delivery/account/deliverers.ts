import { createBoundedMap } from '../../memory/bounded-map.ts';
import { createBusyWatch } from '../../waiting/busy-process.ts';
import { createFilterJudge } from '../../subscriptions/content-filter/judge.ts';
import { isUnverified } from '../../subscriptions/options/verification.ts';
import { openSubscription } from '../../subscriptions/store/stored-subscription.ts';
import type { Subscription } from '../../subscriptions/subscription.ts';
import { isUnreadable } from '../../redis/unreadable-record.ts';
import { SealError, type Sealer } from '../../secrets/seal.ts';
import { createCallbackSender, type SendCallbackDeps } from '../../callbacks/send-callback.ts';
import { createAccountShares } from '../account-shares.ts';
import { SharedLimits } from '../schedule/limiter.ts';
import { Deliverer, type DelivererDeps, type RunResult } from './deliverer.ts';
import type { ReadySubscription } from './queue.ts';
import type { Opened } from './steps.ts';

/** Delivery to accounts by name, in this process. */
export type Deliverers = ReturnType<typeof createDeliverers>;

export interface DeliverersDeps
  extends Omit<DelivererDeps, 'open' | 'limits' | 'shares' | 'judge'>, SendCallbackDeps {
  readonly sealer: Sealer;
  /** Maximum number of callbacks in flight, of all accounts together. */
  readonly callbacksAtOnce: number;
}

interface KeptReady extends ReadySubscription {
  readonly settings: string;
}

// Maximum number of subscriptions kept ready: opening the secrets of one costs more than signing a
// callback.
const openedMax = 20_000;
// Milliseconds until an account is tried again of which a record cannot be read.
const unreadableMs = 5_000;
// Maximum bytes that are kept of accounts between their runs.
const keptBytesMax = 128 * 1024 * 1024;

/** Nothing is known of any account yet. */
export function createDeliverers(deps: DeliverersDeps) {
  const opened = createBoundedMap<string, KeptReady>(openedMax);
  const kept = createBoundedMap<string, { deliverer: Deliverer; bytes: number }>(
    keptBytesMax,
    ({ bytes }) => bytes,
  );
  const running = new Map<string, { deliverer: Deliverer; run: Promise<RunResult> }>();
  // Made once for all accounts.
  const ofAll: DelivererDeps = {
    ...deps,
    open,
    judge: createFilterJudge(),
    limits: new SharedLimits(deps.maxInFlight, createBusyWatch()),
    shares: createAccountShares(deps.callbacksAtOnce),
  };

  function open(account: string, id: string, settings: string): Opened {
    const key = `${account}/${id}`;
    const known = opened.get(key);
    if (known?.settings === settings) return known;
    let subscription: Subscription;
    try {
      const place = { key: `subscriptions of ${account}`, field: id };
      subscription = openSubscription(deps.sealer, account, settings, place);
    } catch (error) {
      // A missing key, a newer format, or garbage.
      if (!(error instanceof SealError) && !isUnreadable(error)) throw error;
      return { kind: 'unusable', reason: error.message };
    }
    if (isUnverified(subscription)) return { kind: 'unverified', subscription };
    const send = createCallbackSender(deps, subscription);
    const made = { kind: 'ready', settings, subscription, send } as const;
    opened.set(key, made);
    return made;
  }

  async function runNow(account: string, deliverer: Deliverer, signal: AbortSignal): Promise<RunResult> {
    try {
      const result = await deliverer.run(signal);
      kept.set(account, { deliverer, bytes: deliverer.weight() });
      return result;
    } catch (error) {
      // The operator has to repair the record; a failure of Redis is tried again by the worker.
      if ((await deps.reportStanding(account, error)) === null) throw error;
      return { wakeAt: deps.now() + unreadableMs };
    } finally {
      running.delete(account);
    }
  }

  /**
   * One run, see `Deliverer`. A run of the account that is under way reads on instead and ends both; one
   * that is about to end is waited for.
   */
  function run(account: string, signal: AbortSignal): Promise<RunResult> {
    const current = running.get(account);
    if (current !== undefined) {
      if (current.deliverer.readOn()) return current.run;
      const again = (): Promise<RunResult> => run(account, signal);
      return current.run.then(again, again);
    }
    const deliverer = kept.get(account)?.deliverer ?? new Deliverer(ofAll, account);
    kept.delete(account);
    const begun = runNow(account, deliverer, signal);
    running.set(account, { deliverer, run: begun });
    return begun;
  }

  return {
    run,
    /** Has the run of the account that is under way read on; false when there is none that does. */
    readOn: (account: string) => running.get(account)?.deliverer.readOn() ?? false,
  };
}
