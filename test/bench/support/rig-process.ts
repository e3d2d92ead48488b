import { answer, isChild, startChild } from './child.ts';
import { createDeliveryRig, type DeliveryRig } from './delivery-rig.ts';

/** Delivery in a process of its own, as a daemon is one. */
export interface RigProcess extends AsyncDisposable {
  /**
   * Registers subscriptions of a new account, one per URL, and puts so many events into its log; resolves
   * with their bodies.
   */
  prepare(account: string, urls: readonly string[], events: number): Promise<readonly Buffer[]>;
  /**
   * Wakes the account's subscriptions; resolves when so many callbacks are acknowledged and written, with how
   * many that were a second.
   */
  deliver(account: string, callbacks: number): Promise<number>;
}

type Order =
  | {
      readonly kind: 'prepare';
      readonly account: string;
      readonly urls: readonly string[];
      readonly events: number;
    }
  | { readonly kind: 'deliver'; readonly account: string; readonly callbacks: number };

/**
 * Starts one over a Redis, under the daemon's own options of Node; it ends with this process at the latest.
 */
export async function startRigProcess(redisUrl: string): Promise<RigProcess> {
  const child = await startChild<Order>(import.meta.url, [redisUrl], { asDaemon: true });
  return {
    prepare: async (account, urls, events) =>
      (await child.ask<Uint8Array[]>({ kind: 'prepare', account, urls, events })).map((body) =>
        Buffer.from(body),
      ),
    deliver: (account, callbacks) => child.ask<number>({ kind: 'deliver', account, callbacks }),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

async function carryOut(rig: DeliveryRig, order: Order): Promise<readonly Buffer[] | number> {
  if (order.kind === 'prepare') {
    await rig.subscribe(order.account, order.urls);
    return (await rig.fill(order.account, order.events)).map(({ body }) => body);
  }
  const target = rig.delivered() + order.callbacks;
  const startedAt = performance.now();
  await rig.wake(order.account);
  await rig.untilDelivered(target);
  return (order.callbacks * 1_000) / (performance.now() - startedAt);
}

if (isChild(import.meta.url)) {
  const rig = await createDeliveryRig(process.argv[2] ?? '');
  // The first command waits until Redis is connected.
  await rig.fill('warm', 1);
  answer((order: Order) => carryOut(rig, order));
}
