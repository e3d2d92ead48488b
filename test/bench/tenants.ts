import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { buildFilingEvent } from '../../src/events/event.ts';
import type { FilingCommit } from '../../src/filings/detection/decide-commit.ts';
import { createSnapshotStore } from '../../src/filings/snapshot-store.ts';
import { createPollingStore } from '../../src/polling/store/polling-store.ts';
import { createKeys } from '../../src/redis/keys.ts';
import { startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { usageOf } from '../support/daemon/process-usage.ts';
import { startPrivateRedis } from './support/private-redis.ts';
import { median, percentile, print } from './support/statistics.ts';

const filings = Number(process.env['BENCH_FILINGS'] ?? 100_000);
const events = 50_000;
const subscriptions = 2_000;
const batch = 200;
const connections = 64;
const everyMs = 20;
const limits = { 'median ms': 25, 'p99 ms': 250 };

/**
 * What a tenant's GET takes while another tenant, whose account has 100 000 filings (`BENCH_FILINGS`), 50 000
 * events and 2 000 large subscriptions, asks for what once read them all. Each load is begun at once, as far
 * as the limits of requests let it. The answers are counted by status; the processor time is the daemon's.
 */
export async function run(): Promise<void> {
  await using redis = await startPrivateRedis('everysec');
  await using daemon = await startDaemonProcess({
    REDIS_URL: redis.url,
    POLL_INTERVAL_MS: '3600000',
  });
  const settings = { baseUrl: 'http://127.0.0.1:9/v1', partnerKey: 'k' };
  for (const account of ['busy', 'neighbour'])
    await daemon.api.ok('PUT', `/v1/accounts/${account}`, settings);
  await fill(redis.url);
  const subscription = await register(daemon);
  const [busy, neighbour] = [await tokenOf(daemon, 'busy'), await tokenOf(daemon, 'neighbour')];
  const ask = asking(daemon, busy, '/v1/accounts/busy');
  const measured = (name: string, count: number, one: () => Promise<number>) =>
    measure(daemon, neighbour, { name, count, one });
  const past: Measured[] = [];
  past.push(await measured('nothing', 0, async () => 0));
  past.push(await measured('HEAD of the table', 500, () => ask('HEAD', '/filings', { accept: 'text/csv' })));
  past.push(await measured('the table', 3, () => ask('GET', '/filings', { accept: 'text/csv' })));
  past.push(
    await measured('newest PENDING', 20, () => ask('GET', '/filings?status=PENDING&order=newest&limit=1')),
  );
  past.push(await measured('events of no type', 100, () => ask('GET', '/events?types=ping&limit=100')));
  past.push(await measured('a page of events', 20, () => ask('GET', '/events?limit=100')));
  const replay = () =>
    ask('POST', `/subscriptions/${subscription}/replay`, {}, { after: '2099-01-01T00:00:00Z' });
  past.push(await measured('replays of nothing', 20, replay));
  past.push(await measured('first subscription', 100, () => ask('GET', '/subscriptions?limit=1')));
  past.push(await measured('100 subscriptions', 20, () => ask('GET', '/subscriptions?limit=100')));
  const [medians, tails] = [past.map((each) => each.median), past.map((each) => each.p99)];
  print('the worst of all', { 'median ms': Math.max(...medians), 'p99 ms': Math.max(...tails) });
  print('limits', limits);
}

interface Measured {
  readonly median: number;
  readonly p99: number;
}

interface Load {
  readonly name: string;
  readonly count: number;
  readonly one: () => Promise<number>;
}

async function measure(daemon: DaemonProcess, token: string, { name, count, one }: Load): Promise<Measured> {
  const ask = asking(daemon, token, '/v1/accounts/neighbour');
  const takenMs: number[] = [];
  const late = monitorEventLoopDelay({ resolution: 5 });
  let isOver = false;
  const probing = (async () => {
    while (!isOver) {
      const startedAt = performance.now();
      await ask('GET', '');
      takenMs.push(performance.now() - startedAt);
      await sleep(everyMs);
    }
  })();
  late.enable();
  const before = await usageOf(daemon.pid);
  const startedAt = performance.now();
  const statuses = await askAll(count, one);
  const loadMs = performance.now() - startedAt;
  // What goes on after the last answer counts too.
  await sleep(2_000);
  const after = await usageOf(daemon.pid);
  isOver = true;
  await probing;
  late.disable();
  const figures = { median: median(takenMs), p99: percentile(takenMs, 0.99) };
  print(`${name} ×${count}`, {
    'median ms': figures.median,
    'p99 ms': figures.p99,
    'most ms': Math.max(...takenMs),
    'asker late ms': late.max / 1e6,
    'CPU s': after.cpuSeconds - before.cpuSeconds,
    'load s': loadMs / 1_000,
    answers: tally(statuses),
  });
  return figures;
}

// As a client with this many connections would.
async function askAll(count: number, one: () => Promise<number>): Promise<number[]> {
  const statuses: number[] = [];
  let begun = 0;
  const worker = async () => {
    while (begun < count) {
      begun += 1;
      statuses.push(await one());
    }
  };
  await Promise.all(Array.from({ length: Math.min(count, connections) }, worker));
  return statuses;
}

function tally(statuses: readonly number[]): string {
  const counts = new Map<number, number>();
  for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1);
  return [...counts].map(([status, count]) => `${status}×${count}`).join(' ') || 'none';
}

function asking(daemon: DaemonProcess, token: string, base: string) {
  return async (
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body?: unknown,
  ): Promise<number> => {
    const answer = await fetch(`${daemon.url}${base}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    await answer.arrayBuffer();
    return answer.status;
  };
}

async function tokenOf(daemon: DaemonProcess, account: string): Promise<string> {
  return (await daemon.api.ok<{ token: string }>('POST', `/v1/accounts/${account}/tokens`, {})).token;
}

// As polls do: half of the filings are PENDING, and the first of them have an event.
async function fill(url: string): Promise<void> {
  const client = new Redis(url);
  const keys = createKeys('fw');
  const snapshot = createSnapshotStore(client, keys);
  const opened = (await client.get(keys.account('busy').incarnation)) ?? '';
  const { generation } = await createPollingStore(client, keys).begin('busy', opened.replace(/^open /, ''));
  for (let i = 0; i < filings; i += batch) {
    const commits = Array.from({ length: batch }, (_, j) => commitOf(i + j));
    // Each needs the head that the one before left.
    await snapshot.commit('busy', generation, commits, Date.now());
  }
  client.disconnect();
}

function commitOf(i: number): FilingCommit {
  const id = `f_${i}`;
  const at = Date.now();
  const status = i % 2 === 0 ? 'COMPLETED' : 'PENDING';
  const after = { status, completedAt: null, rejectionReason: null, removed: false };
  const event = buildFilingEvent({
    account: 'busy',
    generation: 'g',
    filingId: id,
    type: 'filing.pending',
    sequence: 1,
    before: null,
    after,
    changed: ['status'],
    inferred: false,
    notBefore: at - 1,
    notAfter: at,
    document: { id, status, notes: 'y'.repeat(1_800) },
  });
  const next = { ...after, sequence: 1, since: at + i, readFrom: at, readAt: at };
  return { id, previous: null, next, details: null, event: i < events ? event : null };
}

// Of the size of those that an attack would register; under the operator's token, which has no limit.
async function register(daemon: DaemonProcess): Promise<string> {
  const large = {
    url: `http://127.0.0.1:9999/${'p'.repeat(1_500)}`,
    description: 'd'.repeat(500),
    headers: Object.fromEntries(Array.from({ length: 4 }, (_, i) => [`x-${i}`, 'v'.repeat(2_000)])),
  };
  let id = '';
  for (let i = 0; i < subscriptions; i += 1)
    ({ id } = await daemon.api.ok<{ id: string }>('POST', '/v1/accounts/busy/subscriptions', large));
  return id;
}
