import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { startPrivateRedis, type PrivateRedis } from '../support/redis/test-redis.ts';
import { startReceiver, receiverSecret } from '../support/receivers/receiver.ts';
import { startSandbox } from '../support/partner/sandbox.ts';
import { startSlowLine } from '../support/connections/slow-line.ts';
import { expectKept } from '../support/journals/expect-kept.ts';
import { maxInFlight, startWorld } from '../support/world/world.ts';
import { expectNone } from '../support/expect-none.ts';
import { seededRandom } from '../support/seeded-random.ts';

const random = seededRandom('CRASH_SEED');
// A round trip of half a second.
const delayMs = 250;
const resetShare = 0.01;
const pollIntervalMs = 15_000;

async function startRedis(): Promise<PrivateRedis> {
  const redis = await startPrivateRedis({ appendfsync: 'always' });
  onTestFinished(() => redis.close());
  return redis;
}

function polls(daemon: DaemonProcess, mode: string) {
  return daemon.logs
    .filter((line) => line['msg'] === 'poll.completed' && line['mode'] === mode)
    .map((line) => ({ at: Number(line['time']), ms: Number(line['durationMs']), events: line['events'] }));
}

/** Why readiness is not 200, each time that it is asked until the result is called; empty where it is. */
function watchReadiness(daemon: DaemonProcess) {
  const answers: string[] = [];
  let over = false;
  const watching = (async () => {
    while (!over) {
      const { body } = await daemon.api.call<{ reasons: string[] }>('GET', '/health/ready');
      answers.push(body.reasons.join());
      await delay(500);
    }
  })();
  return async () => {
    over = true;
    await watching;
    return answers;
  };
}

test('half a second a round trip: 10 000 filings are taken in within a minute, and each poll ends within its interval', async () => {
  const redis = await startRedis();
  await using line = await startSlowLine(redis.port, { delayMs });
  await using sandbox = await startSandbox();
  await using receiver = await startReceiver();
  await sandbox.seed(10_000);
  const since = performance.now();
  await using daemon = await startDaemonProcess({
    REDIS_URL: line.url,
    PARTNER_BASE_URL: sandbox.baseUrl,
    PARTNER_KEY: 'sandbox-key',
    PARTNER_MAX_RPS: '1000',
    POLL_INTERVAL_MS: String(pollIntervalMs),
  });
  const startMs = performance.now() - since;
  const stopWatching = watchReadiness(daemon);
  await vi.waitFor(() => expect(polls(daemon, 'sweep')).toHaveLength(1), { timeout: 120_000, interval: 100 });
  const subscription = { url: receiver.url, secret: receiverSecret };
  await daemon.api.ok('POST', '/v1/accounts/default/subscriptions', subscription);
  await vi.waitFor(() => expect(polls(daemon, 'delta').length).toBeGreaterThan(1), 60_000);
  const changedAt = Date.now();
  for (let i = 0; i < 20; i += 1) await sandbox.set(`f_slow_${i}`, { status: 'PENDING' });
  await vi.waitFor(() => expect(receiver.accepted).toHaveLength(20), { timeout: 60_000, interval: 50 });
  const deliveredMs = Date.now() - changedAt;
  await vi.waitFor(() => expect(polls(daemon, 'delta').length).toBeGreaterThan(4), 90_000);
  const ready = await stopWatching();
  const deltas = polls(daemon, 'delta');
  const gaps = deltas.slice(1).map(({ at }, i) => at - (deltas[i]?.at ?? 0));
  const [baseline] = polls(daemon, 'sweep');
  const unready = ready.filter((reasons) => reasons !== '');
  const asked = { asked: ready.length, unready };
  const figures = {
    startMs: Math.round(startMs),
    baselineMs: baseline?.ms,
    deltas,
    gaps,
    deliveredMs,
    asked,
  };
  process.stdout.write(`${expect.getState().currentTestName}: ${JSON.stringify(figures)}\n`);
  // Page after page it is more than a hundred seconds.
  expect(baseline?.ms).toBeLessThan(60_000);
  for (const { ms } of deltas) expect(ms).toBeLessThan(pollIntervalMs);
  // A machine that others keep busy may be late with an answer now and then.
  expect(unready.length).toBeLessThan(ready.length / 10);
  expectNone(daemon.logs, ({ msg }) => msg === 'redis.down', 'log lines');
  expect(await daemon.end('SIGTERM')).toBe(0);
});

test('half a second a round trip, and one connection in a hundred reset each second: everything is told, in order', async () => {
  const redis = await startRedis();
  await using line = await startSlowLine(redis.port);
  await using world = await startWorld({ random, redisUrl: line.url });
  line.change({ delayMs, resetShare });
  world.receiver.answer(() => ({ status: 200, afterMs: random() * 60 }));
  const stop = world.lives.run(3);
  await delay(60_000);
  await stop();
  const resets = line.resets();
  await expectKept(world, { repeatsMax: (resets + 1) * maxInFlight, setBack: false }, `${resets} resets`);
});
