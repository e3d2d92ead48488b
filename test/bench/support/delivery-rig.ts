import { randomBytes } from 'node:crypto';
import { openSync, writeSync } from 'node:fs';
import { pino } from 'pino';
import {
  reportAttempt,
  reportBlocked,
  reportDisabled,
  reportExpired,
} from '../../../src/monitoring/reports.ts';
import { createCallbackClient } from '../../../src/callbacks/callback-client.ts';
import { createBlockStore } from '../../../src/delivery/blocked/block-store.ts';
import { createDeliveryStore } from '../../../src/delivery/store/delivery-store.ts';
import { createDrainQueue } from '../../../src/delivery/drain-queue.ts';
import { createDrainWorker } from '../../../src/delivery/drain-worker.ts';
import { createEgressPolicy } from '../../../src/egress/address-policy.ts';
import { createReplayStore } from '../../../src/delivery/replay/replay-store.ts';
import { createSubscriptionDrainer } from '../../../src/delivery/drain/drainer.ts';
import { createSubscriptionWaker } from '../../../src/delivery/wake.ts';
import { buildFilingEvent } from '../../../src/events/event.ts';
import { createEventLog, toCheckpoint } from '../../../src/events/event-log.ts';
import { createLogStream } from '../../../src/monitoring/log-stream.ts';
import { createMetrics } from '../../../src/monitoring/metrics.ts';
import { createRedisConnections, type RedisClient } from '../../../src/redis/connection/connect.ts';
import { createKeys, type AccountKeys } from '../../../src/redis/keys.ts';
import { createSealer } from '../../../src/secrets/seal.ts';
import { createSubscriptionStore } from '../../../src/subscriptions/subscription-store.ts';
import { appendScript } from '../../support/redis/append-script.ts';

/** An event that was put into the log. */
export interface FilledEvent {
  readonly id: string;
  readonly body: Buffer;
}

/** Delivery as the daemon wires it, logs and metrics included, over a log that benchmarks fill. */
export interface DeliveryRig extends AsyncDisposable {
  /** Registers subscriptions of an account, one per URL. */
  subscribe(account: string, urls: readonly string[]): Promise<void>;
  /** Appends an event for each of so many filings, whose notes are of so many bytes (900). */
  fill(account: string, events: number, notesBytes?: number): Promise<FilledEvent[]>;
  /** Wakes the account's subscriptions. */
  wake(account: string): Promise<void>;
  /** Callbacks acknowledged and written so far. */
  delivered(): number;
  /** Resolves when so many are. */
  untilDelivered(count: number): Promise<void>;
}

/** The secret of all subscriptions. */
export const benchSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** Wires delivery over a Redis; logs go nowhere, at the daemon's own level. */
export function createDeliveryRig(redisUrl: string): DeliveryRig {
  const connections = createRedisConnections(redisUrl, { connectionName: 'bench', onStateChange: () => {} });
  const redis = connections.command();
  const keys = createKeys('bench');
  const sealer = createSealer([{ id: 'k', key: Buffer.alloc(32, 1) }]);
  const log = createEventLog(redis, keys);
  const subscriptions = createSubscriptionStore(redis, keys, sealer);
  const onError = (error: Error) => void process.stderr.write(`${error.message}\n`);
  const queue = createDrainQueue(connections.failFast(), keys.queues, onError);
  const waker = createSubscriptionWaker({ subscriptions, log, queue, now: Date.now });
  const nowhere = openSync('/dev/null', 'w');
  const logger = pino({ level: 'info' }, createLogStream({ write: (text) => writeSync(nowhere, text) }));
  const metrics = createMetrics();
  const client = createCallbackClient({
    policy: createEgressPolicy({ allowCidrs: ['127.0.0.0/8'] }),
    allowHttp: true,
    timeoutMs: 15_000,
    userAgent: 'filing-webhooks/bench',
  });
  let delivered = 0;
  let awaited = { count: Infinity, resolve: () => {} };
  const report = reportAttempt(logger, metrics);
  const drainer = createSubscriptionDrainer({
    mend: () => Promise.resolve(0),
    store: createDeliveryStore(redis, keys, (now) => now - 86_400_000),
    replays: createReplayStore(redis, keys),
    blocks: createBlockStore(redis, keys),
    log,
    sealer,
    client,
    wallClock: Date.now,
    now: Date.now,
    random: Math.random,
    retryMs: [5_000, 300_000],
    maxInFlight: 10,
    disableAfterMs: 432_000_000,
    onAttempt(attempt) {
      report(attempt);
      if (attempt.sent.outcome.kind === 'delivered') delivered += 1;
      if (delivered >= awaited.count) awaited.resolve();
    },
    onBlocked: reportBlocked(logger),
    onExpired: reportExpired(logger, metrics),
    onDisabled: reportDisabled(logger, metrics),
    wakeMatching: waker.wakeMatching,
  });
  const worker = createDrainWorker({
    connection: connections.blocking(),
    prefix: keys.queues,
    queue,
    concurrency: 2_000,
    drain: drainer.drain,
    now: Date.now,
    onError,
  });
  return {
    async subscribe(account, urls) {
      await Promise.all(urls.map((url) => subscriptions.create(newSubscription(account, url), null)));
    },
    fill: (account, events, notesBytes = usualNotes) =>
      fillLog(redis, keys.account(account), account, events, notesBytes),
    wake: (account) => waker.wakeMatching(account, [{ type: eventType, state: 'TX' }]),
    delivered: () => delivered,
    untilDelivered: (count) =>
      new Promise((resolve) => {
        if (delivered >= count) resolve();
        else awaited = { count, resolve };
      }),
    async [Symbol.asyncDispose]() {
      await worker.close();
      await client.close();
      await queue.close();
      await connections.close();
    },
  };
}

const eventType = 'filing.pending';

// About 1.5 KB of body, as that of a filing with its usual fields.
const usualNotes = 900;
const appendedAtOnce = 200;
const appendedBytes = 1024 * 1024;

async function fillLog(
  redis: RedisClient,
  keys: Pick<AccountKeys, 'head' | 'events' | 'bodies' | 'filingEvents'>,
  account: string,
  events: number,
  notesBytes: number,
): Promise<FilledEvent[]> {
  const head = toCheckpoint((await redis.get(keys.head)) ?? '0')?.position ?? 0;
  const filled: FilledEvent[] = [];
  const written = [keys.head, keys.events, keys.bodies, keys.filingEvents];
  const atOnce = Math.max(1, Math.min(appendedAtOnce, Math.floor(appendedBytes / notesBytes)));
  let fields: (string | number)[] = [];
  for (let position = head + 1; position <= head + events; position += 1) {
    const { id, filingId, body } = eventOf(account, position, notesBytes);
    filled.push({ id, body: Buffer.from(body) });
    fields.push(id, eventType, filingId, 'TX', Date.now(), body);
    if (filled.length % atOnce !== 0 && position < head + events) continue;
    // In the order of the log.
    // oxlint-disable-next-line no-await-in-loop
    await appendScript.run(redis, written, fields);
    fields = [];
  }
  return filled;
}

function eventOf(account: string, position: number, notesBytes: number) {
  const filingId = `filing_${String(position).padStart(8, '0')}`;
  const side = { status: 'PENDING', completedAt: null, rejectionReason: null, removed: false };
  const document = {
    id: filingId,
    insuredsName: 'Bluebonnet Roofing & Restoration LLC',
    policyNumber: `GL-2026-${position}`,
    filingState: { id: 'a', name: 'Texas', stateAbbr: 'TX' },
    premium: 12_400.5,
    notes: 'x'.repeat(notesBytes),
  };
  return buildFilingEvent({
    account,
    generation: 'g',
    filingId,
    type: eventType,
    sequence: 1,
    before: { ...side, status: 'PAID' },
    after: side,
    changed: ['status'],
    inferred: false,
    notBefore: Date.now() - 15_000,
    notAfter: Date.now(),
    document,
  });
}

function newSubscription(account: string, url: string) {
  return {
    id: `sub_${randomBytes(8).toString('hex')}`,
    account,
    url,
    eventTypes: ['filing.*'],
    states: null,
    description: null,
    headers: {},
    format: 'standard',
    payload: 'full',
    secrets: [{ text: benchSecret, expiresAt: null }],
    createdAt: Date.now(),
    updatedAt: Date.now(),
  } as const;
}
