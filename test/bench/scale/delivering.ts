import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { fillLog, newSubscription } from '../support/delivery-rig.ts';
import { record, sizesOf, type Row } from './results.ts';
import { cpuOf, startStage, type Stage, type StageDaemon } from './stage.ts';

const subscriptions = 20;
const events = 500;
const warmEvents = 250;
// Longer than the time for which a daemon answers scrapes with the same text.
const scrapedAnewMs = 2_000;

/**
 * A backlog of twenty subscriptions drained by 1, 2 and 4 processes, each warm; microseconds of processor
 * time a call.
 */
export async function measure(): Promise<void> {
  await using stage = await startStage('everysec');
  for (const processes of sizesOf([1, 2, 4])) await record('delivering', await measureOne(stage, processes));
}

async function measureOne(stage: Stage, processes: number): Promise<Row> {
  await using stack = new AsyncDisposableStack();
  const daemons: StageDaemon[] = [];
  for (let i = 0; i < processes; i += 1)
    daemons.push(stack.use(await stage.startDaemon({ ROLES: 'deliver' })));
  await drain(stage, warmEvents);
  await drain(stage, warmEvents);
  const shares = await Promise.all(
    daemons.map((daemon) => daemon.metric('filing_webhooks_deliveries_total')),
  );
  const pids = {
    receiver: stage.receiver.pid,
    redis: stage.redis.pid,
    ...Object.fromEntries(daemons.map(({ pid }, i) => [`daemon${i}`, pid])),
  };
  const used: Record<string, number> = await cpuOf(pids, () => drain(stage, events));
  await sleep(scrapedAnewMs);
  const after = await Promise.all(daemons.map((daemon) => daemon.metric('filing_webhooks_deliveries_total')));
  const calls = subscriptions * events;
  const own = after.map((count, i) => count - (shares[i] ?? 0));
  const micros = (seconds = 0) => (seconds * 1e6) / calls;
  const daemonSeconds = daemons.reduce((sum, _, i) => sum + (used[`daemon${i}`] ?? 0), 0);
  return {
    processes,
    'calls/s': calls / (used['seconds'] ?? 0),
    'daemon µs': micros(daemonSeconds),
    'Redis µs': micros(used['redis']),
    'receiver µs': micros(used['receiver']),
    'least share %': (100 * Math.min(...own)) / calls,
    'most share %': (100 * Math.max(...own)) / calls,
  };
}

// Appends events for new subscriptions while none is awake, and waits until all are delivered.
async function drain(stage: Stage, count: number): Promise<void> {
  const { redis, keys, stores, waker } = stage.parts;
  const account = `a${randomBytes(4).toString('hex')}`;
  const urls = Array.from({ length: subscriptions }, (_, n) => `${stage.receiver.url}/${account}/${n}`);
  await Promise.all(urls.map((url) => stores.subscriptions.create(newSubscription(account, url), null)));
  await fillLog(redis, keys.account(account), account, count);
  await stage.receiver.arrivals();
  await waker.wake(account);
  let missing = count * subscriptions;
  while (missing > 0) {
    // oxlint-disable no-await-in-loop
    await sleep(20);
    missing -= (await stage.receiver.arrivals()).length;
    // oxlint-enable no-await-in-loop
  }
}
