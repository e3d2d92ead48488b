import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import type { CallbackClient } from '../../../src/callbacks/callback-client.ts';
import type { Stores } from '../../../src/daemon/parts/stores.ts';
import type { Overrides } from '../../../src/daemon/parts/overrides.ts';
import { createApiDeps } from '../../../src/daemon/parts/api-deps.ts';
import type { Part } from '../../../src/daemon/stop-parts.ts';
import type { Sent } from '../../../src/callbacks/send-callback.ts';
import type { AttemptReport } from '../../../src/delivery/settlement.ts';
import type { Deliverers } from '../../../src/delivery/account/deliverers.ts';
import type { Journal } from '../../../src/delivery/store/journal.ts';
import type { DeliverQueue } from '../../../src/delivery/deliver-queue.ts';
import type { ReplayRequest } from '../../../src/delivery/replay/replay.ts';
import type { Replayer } from '../../../src/delivery/replay/start-replay.ts';
import { firstSnapshot } from '../../../src/delivery/replay/replay.ts';
import type { Waker } from '../../../src/delivery/wake.ts';
import { buildFilingEvent } from '../../../src/events/event.ts';
import type { EventLog } from '../../../src/events/event-log.ts';
import type { SnapshotStore } from '../../../src/filings/snapshot-store.ts';
import { parseProxyAddress, type ProxyAddress } from '../../../src/proxy/proxy-address.ts';
import type { RedisClient } from '../../../src/redis/connection/connect.ts';
import { createKeys, type AccountKeys } from '../../../src/redis/keys.ts';
import type { Block, DeliveryState, Subscription } from '../../../src/subscriptions/subscription.ts';
import type { SubscriptionStore } from '../../../src/subscriptions/store/subscription-store.ts';
import { alsoCalled, connectionsOver, createProduct, testConfig } from '../../support/daemon/product.ts';
import { appendEvent } from '../../support/redis/append-script.ts';
import { storedAccount, type StoredAccount } from '../../support/redis/stored-account.ts';
import { receiverSecret } from '../../support/receivers/receiver.ts';
import type { TestRedis } from '../../support/redis/test-redis.ts';

/** What tests of delivery change of the daemon's settings. */
export interface HarnessOptions {
  readonly retryMs?: readonly number[];
  readonly maxInFlight?: number;
  readonly timeoutMs?: number;
  readonly disableAfterMs?: number;
  readonly retentionMs?: number;
  /** Default that of the daemon. */
  readonly attemptsBytesMax?: number;
  /** Events that a replay counts one by one. */
  readonly countMax?: number;
  /** Address of the forward proxy for callbacks; none by default. */
  readonly egressProxy?: string;
  /** Accounts at once of the worker. */
  readonly concurrency?: number;
  /** Callbacks at once, of all accounts together. */
  readonly callbacksAtOnce?: number;
  /** Milliseconds; by default the clock of this machine. */
  readonly now?: () => number;
  /** Nothing is logged without one. */
  readonly logger?: Logger;
  /** In place of a client of the test's Redis. */
  readonly redis?: RedisClient;
}

/** Delivery of one account of its own, as the daemon wires it, without polling: the tests write the log. */
export interface Harness extends AsyncDisposable {
  readonly account: string;
  readonly keys: AccountKeys;
  /** What Redis holds for the account. */
  readonly stored: StoredAccount;
  readonly redis: RedisClient;
  readonly subscriptions: SubscriptionStore;
  readonly log: EventLog;
  readonly stores: Stores;
  readonly journal: Journal;
  readonly queue: DeliverQueue;
  readonly callbacks: CallbackClient;
  readonly waker: Waker;
  readonly deliverers: Deliverers;
  readonly ping: (subscription: Subscription) => Promise<Sent>;
  readonly replayer: Replayer;
  readonly snapshot: SnapshotStore;
  /** Begins to send a subscription each filing as it is. */
  startSnapshot(id: string): Promise<string>;
  readonly reports: readonly AttemptReport[];
  /** Events that retention took, as they were reported. */
  readonly expired: readonly number[];
  /** Reasons for which subscriptions were disabled, as they were reported. */
  readonly disabled: readonly string[];
  /** Blocks as they were reported. */
  readonly blocks: readonly Block[];
  readonly errors: readonly Error[];
  /** Registers a subscription, at the log's head unless told otherwise, and returns its id. */
  subscribe(url: string, settings?: Partial<Subscription>, from?: Subscription['from']): Promise<string>;
  /** Appends the next event of each of these filings, in this order; returns their positions. */
  append(...filings: readonly string[]): Promise<number[]>;
  /** Appends, then wakes whoever wants it. */
  publish(...filings: readonly string[]): Promise<void>;
  state(id: string): Promise<DeliveryState>;
  /** Delivers once, here and now, as a process that knows nothing of the account yet. */
  drain(id?: string, signal?: AbortSignal): Promise<{ wakeAt: number | null }>;
  /** Changes a subscription as the API does. */
  change(
    id: string,
    change: Partial<Subscription>,
    options?: { enabled?: boolean; release?: boolean },
  ): Promise<void>;
  startWorker(): Part;
}

/** The type of the events that `append` writes. */
const appendedType = 'filing.pending';

/** The product's delivery over a share of the run's Redis. */
export async function createHarness(redis: TestRedis, options: HarnessOptions = {}): Promise<Harness> {
  const { retryMs = [40, 80, 160], maxInFlight = 10, timeoutMs = 5_000, concurrency = 50 } = options;
  const { now = Date.now, retentionMs = 86_400_000, disableAfterMs = 86_400_000 } = options;
  const client = options.redis ?? redis.connect();
  const account = `a${randomBytes(6).toString('hex')}`;
  const errors: Error[] = [];
  const reports: AttemptReport[] = [];
  const expired: number[] = [];
  const disabled: string[] = [];
  const blocks: Block[] = [];
  const base = testConfig(redis.prefix);
  const config = {
    ...base,
    eventRetentionMs: retentionMs,
    attemptsBytesMax: options.attemptsBytesMax ?? base.attemptsBytesMax,
    proxies: { ...base.proxies, egress: proxyAddressOf(options.egressProxy) },
    delivery: { ...base.delivery, retryMs, maxInFlight, timeoutMs, disableAfterMs },
  };
  const overrides: Overrides = {
    connections: connectionsOver(client, () => connectBlocking(redis)),
    now,
    queues: `${createKeys(redis.prefix).queues}${account}`,
    accountsAtOnce: concurrency,
    ...(options.callbacksAtOnce === undefined ? {} : { callbacksAtOnce: options.callbacksAtOnce }),
    replayCountMax: options.countMax ?? 1_000_000,
    observe: alsoCalled({
      onAttempts: (some) => void reports.push(...some),
      onBlocked: (_, __, block) => void blocks.push(block),
      onExpired: (_, events) => void expired.push(events),
      onDisabled: (_, reason) => void disabled.push(reason),
    }),
    onError: (error) => void errors.push(error),
  };
  const product = await createProduct(config, { ...options, overrides });
  const { stores, deliverQueue, callbacks, waker, deliverers, ping, startDelivery } = product.parts;
  const { subscriptions, log, journal } = stores;
  const keys = product.parts.keys.account(account);
  const { replayer } = createApiDeps(config, product.parts, overrides);
  const sequences = new Map<string, number>();
  const workers: Part[] = [];
  const never = new AbortController().signal;

  async function appendOne(filingId: string): Promise<number> {
    const sequence = (sequences.get(filingId) ?? 0) + 1;
    sequences.set(filingId, sequence);
    return appendEvent(client, keys, eventOf(account, filingId, sequence), Date.now());
  }

  async function append(...filings: readonly string[]): Promise<number[]> {
    const positions: number[] = [];
    for (const filingId of filings) positions.push(await appendOne(filingId));
    return positions;
  }

  async function stateOf(id: string): Promise<DeliveryState> {
    const record = await subscriptions.get(account, id);
    if (record === null) throw new Error(`no subscription ${id}`);
    return record.delivery;
  }

  return {
    account,
    keys,
    stored: storedAccount(client, keys),
    redis: client,
    subscriptions,
    log,
    stores,
    journal,
    queue: deliverQueue,
    callbacks,
    waker,
    deliverers,
    ping,
    replayer,
    snapshot: product.parts.stores.snapshot,
    startSnapshot: (id) => replayer.snapshot(account, id),
    reports,
    expired,
    disabled,
    blocks,
    errors,
    append,
    state: stateOf,
    async subscribe(url, settings = {}, from = 'now') {
      const subscription = newSubscription(account, url, { ...settings, from });
      const known = await product.parts.stores.snapshot.known(account);
      const snapshot = from === 'state' ? firstSnapshot(known, now()) : null;
      await subscriptions.create(subscription, null, { snapshot });
      return subscription.id;
    },
    async publish(...filings) {
      await append(...filings);
      await waker.wake(account);
    },
    drain: (_id, signal = never) => product.parts.newDeliverers().run(account, signal),
    async change(id, change, { enabled, release = false } = {}) {
      await subscriptions.update(account, id, ({ subscription }) => ({
        subscription: { ...subscription, ...change },
        release,
        ...(enabled === undefined ? {} : { enabled }),
      }));
    },
    startWorker() {
      const worker = startDelivery();
      workers.push(worker);
      return worker;
    },
    async [Symbol.asyncDispose]() {
      await callbacks.close();
      await Promise.all(workers.map((worker) => worker.stop()));
      await product[Symbol.asyncDispose]();
    },
  };
}

/** A request that narrows nothing. */
export const everything: ReplayRequest = {
  after: null,
  before: null,
  eventTypes: null,
  filingId: null,
  deadLettersOnly: false,
};

/** Begins a replay of what `request` narrows the whole log to. */
export function startReplay(harness: Harness, id: string, request: Partial<ReplayRequest> = {}) {
  return harness.replayer.start(harness.account, id, { ...everything, ...request });
}

function connectBlocking(redis: TestRedis): RedisClient {
  const connection = redis.connect();
  connection.options.maxRetriesPerRequest = null;
  return connection;
}

/** A subscription to everything that `eventOf` makes. */
export function newSubscription(
  account: string,
  url: string,
  settings: Partial<Subscription> = {},
): Subscription {
  const at = Date.now();
  return {
    id: `sub_${randomBytes(6).toString('hex')}`,
    account,
    url,
    eventTypes: ['filing.*'],
    states: null,
    description: null,
    headers: {},
    format: 'standard',
    payload: 'full',
    secrets: [{ text: receiverSecret, expiresAt: null }],
    createdAt: at,
    updatedAt: at,
    ...settings,
  };
}

/** An event as `append` writes it. */
export function eventOf(account: string, filingId: string, sequence: number) {
  const side = { status: 'PENDING', completedAt: null, rejectionReason: null, removed: false };
  return buildFilingEvent({
    account,
    generation: 'g',
    filingId,
    type: appendedType,
    sequence,
    before: { ...side, status: 'PAID' },
    after: side,
    changed: ['status'],
    inferred: false,
    notBefore: 1_700_000_000_000,
    notAfter: 1_700_000_000_000 + sequence,
    document: { id: filingId, insuredsName: 'Ö & Söhne <Ltd>', filingState: { stateAbbr: 'TX' } },
  });
}

function proxyAddressOf(url: string | undefined): ProxyAddress | null {
  if (url === undefined) return null;
  const parsed = parseProxyAddress(url);
  if (!parsed.ok) throw new Error(parsed.problem);
  return parsed.value;
}
