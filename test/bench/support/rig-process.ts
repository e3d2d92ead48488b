import type { Subscription } from '../../../src/subscriptions/subscription.ts';
import type { CallsTaken } from './bare-process.ts';
import { answer, isChild, startChild } from './child.ts';
import { createDeliveryRig, type DeliveryRig } from './delivery-rig.ts';
import { ownMicros, threadMicros } from './processor-time.ts';
import { testCertificate } from './receiver-process.ts';

/** What callbacks of the daemon took. */
export interface CallsDelivered extends CallsTaken {
  /** The share of `cpuMicros` that is Redis's. */
  readonly redisMicros: number;
  /** Commands of Redis a call, those of scripts included. */
  readonly commands: number;
}

/** Delivery in a process of its own, as a daemon is one. */
export interface RigProcess extends AsyncDisposable {
  readonly pid: number;
  /**
   * Registers subscriptions of a new account, one per URL, with these settings, and puts so many events into
   * its log; resolves with the bodies of the first hundred.
   */
  prepare(
    account: string,
    urls: readonly string[],
    events: number,
    settings?: Partial<Subscription>,
  ): Promise<readonly Buffer[]>;
  /** Puts so many more events into the account's log. */
  append(account: string, events: number): Promise<void>;
  /**
   * Wakes the account's subscriptions; resolves when so many callbacks are acknowledged and written, with
   * what they took of time and of the processor: that of this process and of its Redis.
   */
  deliver(account: string, callbacks: number): Promise<CallsDelivered>;
}

type Order =
  | {
      readonly kind: 'prepare';
      readonly account: string;
      readonly urls: readonly string[];
      readonly events: number;
      readonly settings: Partial<Subscription>;
    }
  | { readonly kind: 'append'; readonly account: string; readonly events: number }
  | { readonly kind: 'deliver'; readonly account: string; readonly callbacks: number };

/**
 * Starts one over a Redis, under the daemon's own options of Node; it ends with this process at the latest.
 */
export async function startRigProcess(redisUrl: string): Promise<RigProcess> {
  const child = await startChild<Order>(import.meta.url, [redisUrl], {
    asDaemon: true,
    environment: { NODE_EXTRA_CA_CERTS: testCertificate },
  });
  return {
    pid: child.pid,
    prepare: async (account, urls, events, settings = {}) =>
      (await child.ask<Uint8Array[]>({ kind: 'prepare', account, urls, events, settings })).map((body) =>
        Buffer.from(body),
      ),
    append: (account, events) => child.ask({ kind: 'append', account, events }),
    deliver: (account, callbacks) => child.ask<CallsDelivered>({ kind: 'deliver', account, callbacks }),
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  };
}

// Enough for a yardstick that posts the same bodies; more would only pass between processes.
const bodiesReturned = 100;

async function carryOut(rig: DeliveryRig, order: Order): Promise<readonly Buffer[] | CallsDelivered | null> {
  if (order.kind === 'append') {
    await rig.fill(order.account, order.events);
    return null;
  }
  if (order.kind === 'prepare') {
    await rig.subscribe(order.account, order.urls, order.settings);
    const filled = await rig.fill(order.account, order.events);
    await rig.rewriteAof();
    return filled.slice(0, bodiesReturned).map(({ body }) => body);
  }
  const { account, callbacks } = order;
  const target = rig.delivered() + callbacks;
  const redisBefore = await rig.redisUse();
  const [ownBefore, mainBefore] = [ownMicros(), threadMicros()];
  const startedAt = performance.now();
  await rig.wake(account);
  await rig.untilDelivered(target);
  const elapsedMs = performance.now() - startedAt;
  const [own, main] = [ownMicros() - ownBefore, threadMicros() - mainBefore];
  const redis = await rig.redisUse();
  const redisMicros = redis.micros - redisBefore.micros;
  return {
    perSecond: (callbacks * 1_000) / elapsedMs,
    cpuMicros: (own + redisMicros) / callbacks,
    mainMicros: main / callbacks,
    redisMicros: redisMicros / callbacks,
    commands: (redis.commands - redisBefore.commands) / callbacks,
  };
}

if (isChild(import.meta.url)) {
  const rig = await createDeliveryRig(process.argv[2] ?? '');
  // The first command waits until Redis is connected.
  await rig.fill('warm', 1);
  answer((order: Order) => carryOut(rig, order));
}
