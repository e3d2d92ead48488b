import { Redis } from 'ioredis';
import { expect, test, vi } from 'vitest';
import { startDaemonProcess } from '../support/daemon/daemon-process.ts';
import {
  baselined,
  isLogged,
  leftBehind,
  lines,
  setStopStage,
  subscribe,
  subscriptions,
} from './stop-stage.ts';

const stage = setStopStage();

test('callbacks whose receiver hangs are aborted in time, which costs them nothing, and repeated by the next process', async () => {
  const patient = { ...stage.environment, DELIVERY_TIMEOUT_MS: '60000' };
  await using first = await startDaemonProcess(patient);
  await baselined(first);
  const paths: string[] = [];
  for (let i = 0; i < 5; i += 1) paths.push(`${subscriptions}/${await subscribe(first, stage.receiver)}`);
  const since = stage.receiver.received.length;
  const acceptedBefore = stage.receiver.accepted.length;
  stage.receiver.answer('hang');
  const filings = Array.from({ length: 10 }, (_, i) => `f_hanging_${i}`);
  await Promise.all(filings.map((id) => stage.sandbox.set(id, { status: 'PENDING' })));
  await vi.waitFor(() => expect(stage.receiver.inFlight()).toBe(50), 20_000);
  const hanging = stage.receiver.received.slice(since).map(({ id }) => id);
  const signalledAt = performance.now();
  const ended = first.end('SIGTERM');
  await isLogged(first, 'daemon.stopping');
  const endedToo = first.end('SIGTERM');
  expect([await ended, await endedToo]).toEqual([0, 0]);
  expect(performance.now() - signalledAt).toBeLessThan(30_000);
  expect(leftBehind(first)).toEqual([]);
  expect(lines(first, 'delivery.aborted')).toHaveLength(50);

  stage.receiver.answer(200);
  await using second = await startDaemonProcess(patient);
  await vi.waitFor(() => expect(stage.receiver.accepted.length - acceptedBefore).toBe(50), 30_000);
  expect(
    stage.receiver.accepted
      .slice(acceptedBefore)
      .map(({ id }) => id)
      .toSorted(),
  ).toEqual(hanging.toSorted());
  await vi.waitFor(async () => {
    for (const path of paths) {
      // oxlint-disable-next-line no-await-in-loop
      const { items } = await second.api.ok<{ items: { outcome: string; attempt: number }[] }>(
        'GET',
        `${path}/attempts?limit=100`,
      );
      for (const outcome of ['aborted', 'delivered'])
        expect(items.filter((item) => item.outcome === outcome && item.attempt === 1)).toHaveLength(10);
    }
  }, 10_000);
  for (const path of paths)
    expect(await second.api.ok('GET', path)).toMatchObject({ state: 'active', consecutiveFailures: 0 });
  expect(await second.end('SIGTERM')).toBe(0);
}, 120_000);

test('ends well while Redis is gone, and while it hangs', async () => {
  await using first = await startDaemonProcess(stage.environment);
  await baselined(first);
  await stage.redis.kill();
  await isLogged(first, 'redis.down');
  expect(await first.end('SIGTERM')).toBe(0);
  await stage.redis.restart();

  await using second = await startDaemonProcess(stage.environment);
  await baselined(second);
  const pauser = new Redis(stage.redis.url);
  pauser.on('error', () => undefined);
  await pauser.call('CLIENT', 'PAUSE', '60000', 'ALL');
  expect(await second.end('SIGTERM')).toBe(0);
  pauser.disconnect();
  await stage.redis.restart();
});
