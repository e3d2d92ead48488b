import { freemem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Redis } from 'ioredis';
import { scanEvents, scanNewestEvents, type EventFilter } from '../../src/api/events/scan.ts';
import { createAccountDeliveryStore } from '../../src/delivery/store/account-store.ts';
import type { SubscriptionSettlement } from '../../src/delivery/store/settlement-text.ts';
import { createJournal } from '../../src/delivery/store/journal.ts';
import { createEventFinder } from '../../src/events/search/find-events.ts';
import { createTypeSearch } from '../../src/events/search/log-sections.ts';
import type { ReplayRequest } from '../../src/delivery/replay/replay.ts';
import { createReplayStore } from '../../src/delivery/replay/replay-store.ts';
import { createReplayer } from '../../src/delivery/replay/start-replay.ts';
import { createFilterJudge } from '../../src/subscriptions/content-filter/judge.ts';
import { createLagReader } from '../../src/subscriptions/lag.ts';
import { createEventLog } from '../../src/events/event-log.ts';
import { logBeginning } from '../../src/events/timeline.ts';
import { createSnapshotStore } from '../../src/filings/snapshot-store.ts';
import { createKeys } from '../../src/redis/keys.ts';
import { createSealer } from '../../src/secrets/seal.ts';
import { createSubscriptionStore } from '../../src/subscriptions/store/subscription-store.ts';
import { appendEvent } from '../support/redis/append-script.ts';
import { createDeliveryRig, type DeliveryRig } from './support/delivery-rig.ts';
import { startPingProcess, type PingProcess } from './support/ping-process.ts';
import { startPrivateRedis } from './support/private-redis.ts';
import { startReceiverProcess } from './support/receiver-process.ts';
import { median, print } from './support/statistics.ts';

const bodyBytes = 1_000_000;
const eventsWanted = Number(process.env['BENCH_EVENTS'] ?? 10_000);
const delivered = 400;
const ofOneFiling = 50;
const deadLetters = 200;
const slowMs = 10;
const account = 'a';
const all: EventFilter = { types: null, filingId: null };
const everything: ReplayRequest = {
  after: null,
  before: null,
  eventTypes: null,
  filingId: null,
  deadLettersOnly: false,
};

/**
 * How long others wait for Redis while the product works on a log with bodies of a megabyte: for each
 * operation the longest script and the longest command of all, by Redis's own clock, and the longest wait of
 * a second client that sends PING every millisecond. Then what this process keeps in memory of all that it
 * has read.
 */
export async function run(): Promise<void> {
  // Redis rounds a body up to a mebibyte.
  const events = Math.min(eventsWanted, Math.floor((0.75 * freemem()) / 2 ** 20));
  await using redis = await startPrivateRedis('in memory');
  await using receiver = await startReceiverProcess();
  await using rig = await createDeliveryRig(redis.url);
  await using pings = await startPingProcess(redis.url);
  await using client = openClient(redis.url);
  const watch = createWatch(client.redis, pings);
  print('log', { events: events.toString(), 'bytes each': bodyBytes.toString() });
  const before = memoryUse();
  await watch('append, one script each', () => fill(rig, events - delivered - ofOneFiling));
  await appendToFiling(client.redis);
  await rig.subscribe(account, [receiver.url]);
  await fill(rig, delivered);
  await measure(client.redis, rig, watch);
  await sleep(5_000);
  const after = memoryUse();
  print('kept 5 s later', {
    'heap and buffers MiB': after.used - before.used,
    'RSS MiB': after.rss - before.rss,
  });
}

function memoryUse() {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { used: (heapUsed + external) / 2 ** 20, rss: rss / 2 ** 20 };
}

const keys = createKeys('bench');
const oneFiling = 'filing_with_many';

function openClient(url: string): AsyncDisposable & { readonly redis: Redis } {
  const redis = new Redis(url);
  return { redis, [Symbol.asyncDispose]: async () => redis.disconnect() };
}

// In portions: the rig hands out the bodies.
async function fill(rig: DeliveryRig, events: number): Promise<void> {
  const portion = 50;
  for (let filled = 0; filled < events; filled += portion)
    await rig.fill(account, Math.min(portion, events - filled), bodyBytes);
}

async function appendToFiling(redis: Redis): Promise<void> {
  const body = JSON.stringify({ notes: 'x'.repeat(bodyBytes) });
  const event = { type: 'filing.pending', filingId: oneFiling, state: 'TX', status: '', body };
  for (let i = 0; i < ofOneFiling; i += 1)
    await appendEvent(redis, keys.account(account), { ...event, id: `evt_one_${i}` }, Date.now());
}

async function measure(redis: Redis, rig: DeliveryRig, watch: Watch): Promise<void> {
  const log = createEventLog(redis, keys);
  const outline = createEventLog(redis, keys).outlineAfter;
  const sections = createTypeSearch(redis, keys, log);
  const subscriptions = createSubscriptionStore(
    redis,
    keys,
    createSealer([{ id: 'k', key: Buffer.alloc(32, 1) }]),
  );
  const journal = createJournal(redis, keys, (now) => now - 86_400_000, Infinity);
  const deliveries = createAccountDeliveryStore(redis, keys, (now) => now - 86_400_000, Infinity);
  const replays = createReplayStore(redis, keys);
  const replayer = createReplayer({
    subscriptions,
    log,
    judge: createFilterJudge(),
    known: () => Promise.resolve(0),
    findEvents: createEventFinder(redis, keys, log),
    journal,
    replays,
    wake: () => Promise.resolve(),
    countMax: 500_000,
    now: Date.now,
  });
  const ids = await deliveries.ids(account);
  const id = ids[0] ?? '';
  const { position: head } = await log.head(account);
  async function open() {
    const opened = await deliveries.open(account);
    if (opened === null) throw new Error('no subscription');
    return opened;
  }
  const replay = (request: Partial<ReplayRequest>) =>
    replayer.start(account, id, { ...everything, ...request });

  await watch('trim, nothing to trim', () => log.trim(account, 0));
  await watch('lags of subscriptions 2 000 behind', async () => {
    const record = await subscriptions.get(account, id);
    if (record === null) throw new Error('no subscription');
    const filters = { eventTypes: ['filing.*'], states: ['TX'] };
    const lagging = { filter: filters, delivery: { ...record.delivery, cursor: Math.max(0, head - 2_000) } };
    await createLagReader({ log, outline })(account, [lagging]);
  });
  await watch(`delivery of ${delivered}`, async () => {
    await rig.wake(account);
    await rig.untilDelivered(delivered);
  });
  for (const [name, scan] of [
    ['oldest', (of: EventFilter) => scanEvents({ log, sections }, account, logBeginning, of, 100)],
    ['newest', (of: EventFilter) => scanNewestEvents({ log, sections }, account, null, of, 100)],
  ] as const) {
    // oxlint-disable no-await-in-loop
    await watch(`events, ${name} first`, () => scan(all));
    await watch(`events, ${name} first, of a type`, () => scan({ ...all, types: ['filing.rejected'] }));
    await watch(`events of a filing, ${name} first`, () => scan({ ...all, filingId: oneFiling }));
    // oxlint-enable no-await-in-loop
  }
  await watch('replay of a range', () => replay({ after: Date.now() }));
  await watch('replay of a filing', () => replay({ filingId: oneFiling }));
  await watch('settlement', async () => {
    const { fence, level: known, version } = await open();
    const written = { known, level: known.position, nextAt: null, version };
    const settlement = { ...written, subscriptions: [withDeadLetters(id, head)] };
    const settled = await deliveries.settle(account, fence, settlement, Date.now());
    if (typeof settled === 'string') throw new Error(settled);
  });
  await watch('dead letters', () => journal.list(account, id, 'dead', null, 100));
  await watch('replay of the dead letters', () => replay({ deadLettersOnly: true }));
  await watch('commit of a page of 20', () => commitPage(redis));
  await watch('first read of a deliverer, at the beginning of the log', async () => {
    const { fence, version } = await open();
    await deliveries.load(account, fence, ids, null);
    await deliveries.read(account, fence, logBeginning, version, 100);
  });
  await watch('trim of everything', () => log.trim(account, Date.now() + 1));
}

function withDeadLetters(id: string, head: number): SubscriptionSettlement {
  const one = {
    eventType: 'filing.pending',
    attempts: 8,
    lastOutcome: 'http_500',
    events: 1,
    at: Date.now(),
  };
  const letters = Array.from({ length: deadLetters }, (_, i) => {
    const position = head - delivered + i;
    const filingId = `filing_${String(position).padStart(8, '0')}`;
    return { ...one, eventId: `evt_${i}`, filingId, position };
  });
  const nothing = {
    announced: null,
    disabling: null,
    enabling: null,
    replay: null,
    recovered: [],
    attempts: [],
    lags: null,
  };
  return {
    id,
    endpointVersion: 0,
    progress: {},
    endpoint: {},
    lanes: new Map(),
    deadLetters: letters,
    ...nothing,
  };
}

async function commitPage(redis: Redis): Promise<void> {
  const snapshot = createSnapshotStore(redis, keys);
  await redis.hset(keys.account(account).polling, 'generation', 'g');
  const body = JSON.stringify({ notes: 'x'.repeat(bodyBytes) });
  const state = { status: 'PAID', completedAt: null, rejectionReason: null, sequence: 1, since: 0 };
  const next = { ...state, readFrom: 1, readAt: 1, removed: false };
  const commits = Array.from({ length: 20 }, (_, i) => {
    const event = {
      id: `evt_page_${i}`,
      type: 'filing.paid',
      filingId: `page_${i}`,
      state: 'TX',
      status: '',
      body,
    };
    return { id: `page_${i}`, previous: null, next, details: null, event };
  });
  await snapshot.commit(account, 'g', commits, Date.now());
}

type Watch = (operation: string, work: () => Promise<unknown>) => Promise<void>;

function createWatch(redis: Redis, pings: PingProcess): Watch {
  return async (operation, work) => {
    await redis.config('SET', 'slowlog-log-slower-than', 100, 'slowlog-max-len', 1_000_000);
    await redis.call('SLOWLOG', 'RESET');
    await pings.longest();
    const startedAt = performance.now();
    await work();
    const elapsed = performance.now() - startedAt;
    // A PING that waits now is answered after the last command.
    await sleep(50);
    const ping = await pings.longest();
    const slow = (await redis.call('SLOWLOG', 'GET', -1)) as [number, number, number, string[]][];
    // What this looks with is none of it.
    const commands = slow
      .map(([, , micros, [name = '']]) => ({ name: name.toUpperCase(), ms: micros / 1_000 }))
      .filter(({ name }) => name !== 'SLOWLOG');
    const scripts = commands.filter(({ name }) => name.startsWith('EVAL'));
    const longest = (some: typeof commands) => some.reduce((most, { ms }) => Math.max(most, ms), 0);
    print(operation, {
      ms: elapsed,
      'median script': scripts.length === 0 ? '-' : median(scripts.map((script) => script.ms)),
      'longest script': longest(scripts),
      'longest command': longest(commands),
      [`over ${slowMs} ms`]: commands.filter(({ ms }) => ms > slowMs).length.toString(),
      'longest PING': ping,
    });
  };
}
