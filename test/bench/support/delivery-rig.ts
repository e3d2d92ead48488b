import { randomBytes } from 'node:crypto';
import { openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { pino } from 'pino';
import { buildFilingEvent } from '../../../src/events/event.ts';
import { toCheckpoint } from '../../../src/events/event-log.ts';
import { createLogStream } from '../../../src/monitoring/log-stream.ts';
import type { RedisClient } from '../../../src/redis/connection/connect.ts';
import type { AccountKeys } from '../../../src/redis/keys.ts';
import { renewSecrets } from '../../../src/subscriptions/signing-secret.ts';
import type { Subscription } from '../../../src/subscriptions/subscription.ts';
import { appendScript } from '../../support/redis/append-script.ts';
import { alsoCalled, createProduct, testConfig } from '../../support/daemon/product.ts';
import { redisCommands, redisMicros } from './processor-time.ts';
import type { DeliveryLimits } from '../../../src/subscriptions/options/limits.ts';

/** An event that was put into the log. */
export interface FilledEvent {
  readonly id: string;
  readonly body: Buffer;
}

/** Delivery as the daemon wires it, logs and metrics included, over a log that benchmarks fill. */
export interface DeliveryRig extends AsyncDisposable {
  /** Registers subscriptions of an account, one per URL, with these settings. Those signed by `v1a` have a key each. */
  subscribe(account: string, urls: readonly string[], settings?: Partial<Subscription>): Promise<void>;
  /** Appends an event for each of so many filings, whose notes are of so many bytes (900). */
  fill(account: string, events: number, notesBytes?: number): Promise<FilledEvent[]>;
  /**
   * Rewrites the AOF, so that none of what was written so far makes Redis do it later, when it is measured.
   */
  rewriteAof(): Promise<void>;
  /** Wakes the account's subscriptions. */
  wake(account: string): Promise<void>;
  /** Callbacks acknowledged and written so far. */
  delivered(): number;
  /** What its Redis has used so far: microseconds of processor time, and commands, those of scripts included. */
  redisUse(): Promise<{ readonly micros: number; readonly commands: number }>;
  /** Resolves when so many are. */
  untilDelivered(count: number): Promise<void>;
}

/** The secret of all subscriptions. */
export const benchSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

/** The product's delivery over a Redis; logs go nowhere, at the daemon's own level. */
export async function createDeliveryRig(redisUrl: string): Promise<DeliveryRig> {
  let delivered = 0;
  let awaited = { count: Infinity, resolve: () => {} };
  const nowhere = openSync('/dev/null', 'w');
  const toNowhere = (text: string, onWritten: () => void) => {
    writeSync(nowhere, text);
    onWritten();
  };
  const lines = createLogStream({ write: toNowhere, writableLength: 0, on: () => undefined });
  const logger = pino({ level: 'info' }, lines);
  const config = testConfig('bench', redisUrl);
  // `localhost` may have an address of either family.
  const delivery = { ...config.delivery, allowCidrs: [...config.delivery.allowCidrs, '::1/128'] };
  const product = await createProduct(
    { ...config, delivery },
    {
      logger,
      overrides: {
        observe: alsoCalled({
          onAttempts(attempts) {
            for (const { sent } of attempts) if (sent.outcome.kind === 'delivered') delivered += 1;
            if (delivered >= awaited.count) awaited.resolve();
          },
        }),
        onError: (error) => void process.stderr.write(`${error.message}\n`),
      },
    },
  );
  const { redis, keys, stores, waker, startDelivery } = product.parts;
  const { subscriptions } = stores;
  const worker = startDelivery();
  return {
    async subscribe(account, urls, settings = {}) {
      const all = urls.map((url) => {
        const one = { ...newSubscription(account, url), ...settings };
        return {
          ...one,
          secrets: renewSecrets(one.secrets, { versions: settings.signatures ?? ['v1'] }, Date.now()),
        };
      });
      await Promise.all(all.map((subscription) => subscriptions.create(subscription, null)));
    },
    fill: (account, events, notesBytes = usualNotes) =>
      fillLog(redis, keys.account(account), account, events, notesBytes),
    async rewriteAof() {
      // Redis itself may have begun one.
      await untilAofRewritten(redis);
      await redis.bgrewriteaof();
      await untilAofRewritten(redis);
    },
    wake: (account) => waker.wake(account),
    delivered: () => delivered,
    redisUse: async () => ({ micros: await redisMicros(redis), commands: await redisCommands(redis) }),
    untilDelivered: (count) =>
      new Promise((resolve) => {
        if (delivered >= count) resolve();
        else awaited = { count, resolve };
      }),
    async [Symbol.asyncDispose]() {
      await worker.stop();
      await product[Symbol.asyncDispose]();
    },
  };
}

async function untilAofRewritten(redis: RedisClient): Promise<void> {
  while (/^aof_rewrite_(in_progress|scheduled):1/m.test(await redis.info('persistence'))) await sleep(20);
}

/** The type of every event in a filled log. */
const eventType = 'filing.pending';

// About 1.5 KB of body, as that of a filing with its usual fields.
const usualNotes = 900;
const appendedAtOnce = 200;
const appendedBytes = 1024 * 1024;

/** Appends an event of about 1.5 KB for each of so many filings to an account's log. */
export async function fillLog(
  redis: RedisClient,
  keys: Pick<AccountKeys, 'head' | 'events' | 'bodies' | 'filingEvents'>,
  account: string,
  events: number,
  notesBytes = usualNotes,
): Promise<FilledEvent[]> {
  const head = toCheckpoint((await redis.get(keys.head)) ?? '0')?.position ?? 0;
  const filled: FilledEvent[] = [];
  const written = [keys.head, keys.events, keys.bodies, keys.filingEvents];
  const atOnce = Math.max(1, Math.min(appendedAtOnce, Math.floor(appendedBytes / notesBytes)));
  let fields: (string | number)[] = [];
  for (let position = head + 1; position <= head + events; position += 1) {
    const { id, filingId, body } = eventOf(account, position, notesBytes);
    filled.push({ id, body: Buffer.from(body) });
    fields.push(id, eventType, filingId, 'TX', 'PENDING', Date.now(), body);
    if (filled.length % atOnce !== 0 && position < head + events) continue;
    // In the order of the log.
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

/** A subscription of an account to all changes of filings. */
export function newSubscription(account: string, url: string, limits: DeliveryLimits = {}) {
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
    ...limits,
  } as const;
}
