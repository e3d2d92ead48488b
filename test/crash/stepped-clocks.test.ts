import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test, vi } from 'vitest';
import { startDaemonProcess } from '../support/daemon/daemon-process.ts';
import { createSteppedClock, startSteppedRedis } from '../support/daemon/stepped-clock.ts';
import { startStage } from '../support/daemon/delivery-stage.ts';

const intervalMs = 5_000;
const pauseSeconds = 5;
// Milliseconds: two intervals, and what a machine under load takes besides.
const soon = { timeout: 2 * intervalMs + 15_000, interval: 100 };

const steps: readonly [string, number][] = [
  ['back by 90 seconds', -90],
  ['back by an hour', -3_600],
  ['back by a day', -86_400],
  ['ahead by 90 seconds', 90],
  ['ahead by an hour', 3_600],
  ['ahead by a day', 86_400],
];

/**
 * A receiver that does not look at the time of a callback, which is wrong where the daemon's clock is. `busy`
 * has it ask for a pause.
 */
async function startLenientReceiver() {
  const answers: number[] = [];
  let busy = false;
  const server = createServer((request, response) => {
    request.resume().once('end', () => {
      const status = busy ? 429 : 200;
      answers.push(status);
      response.writeHead(status, busy ? { 'retry-after': String(pauseSeconds) } : {}).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    refused: () => answers.filter((status) => status === 429).length,
    accepted: () => answers.filter((status) => status === 200).length,
    isBusy: (now: boolean) => void (busy = now),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/**
 * A daemon and its Redis, each with a clock of its own, a healthy receiver and one that asks for a pause now
 * and then.
 */
async function startWorld(prefix: string) {
  await using stack = new AsyncDisposableStack();
  const clocks = {
    daemon: stack.use(await createSteppedClock()),
    redis: stack.use(await createSteppedClock()),
  };
  const redis = stack.use(await startSteppedRedis(clocks.redis));
  const receiver = stack.use(await startLenientReceiver());
  const busy = stack.use(await startLenientReceiver());
  const stage = stack.use(
    await startStage({ url: redis.url, prefix }, 2, {
      POLL_INTERVAL_MS: String(intervalMs),
      SWEEP_INTERVAL_MS: '60000',
      EVENT_RETENTION_MS: '7200000',
      DELIVERY_RETRY_MS: '3600000',
      ...clocks.daemon.environment,
    }),
  );
  await stage.subscribe(receiver.url);
  await stage.subscribe(busy.url);
  const running = stack.move();
  const polls = () => stage.daemon.api.ok<{ requests: { total: number } }>('GET', '/v1/accounts/default');
  return {
    clocks,
    stage,
    receiver,
    busy,
    /** Requests to the partner service so far. */
    requests: async () => (await polls()).requests.total,
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

test.each(
  (['daemon', 'redis'] as const).flatMap((whose) => steps.map(([title, s]) => [whose, title, s] as const)),
)(
  'a clock of the %s set %s, and set right, holds nothing up and repeats nothing',
  async (whose, _title, seconds) => {
    await using world = await startWorld(`${whose}${seconds}`);
    const { stage, receiver, busy, clocks } = world;
    for (const offset of [seconds, 0]) {
      const [before, busyBefore, refusedBefore] = [receiver.accepted(), busy.accepted(), busy.refused()];
      busy.isBusy(true);
      await stage.move(['f0']);
      await vi.waitFor(() => expect(receiver.accepted()).toBe(before + 1), soon);
      await vi.waitFor(() => expect(busy.refused()).toBeGreaterThan(refusedBefore), soon);
      // While the pause lasts.
      const [requestsBefore, at] = [await world.requests(), performance.now()];
      clocks[whose].set(offset);
      busy.isBusy(false);
      await stage.move(['f1']);
      await vi.waitFor(() => expect(receiver.accepted()).toBe(before + 2), soon);
      await vi.waitFor(() => expect(busy.accepted()).toBe(busyBefore + 2), soon);
      // Each poll of an account as small as this is one request, or two; the step itself may cost one poll.
      const pollsMax = (performance.now() - at) / intervalMs + 2;
      expect((await world.requests()) - requestsBefore).toBeLessThanOrEqual(2 * pollsMax);
    }
    expect([receiver.accepted(), busy.accepted()]).toEqual([4, 4]);
    expect(await stage.all('/v1/accounts/default/events')).toHaveLength(4);
  },
);

test.each([
  ['back', -86_400],
  ['ahead', 86_400],
] as const)(
  'one of two daemons with a clock a day %s polls no more often, and no less',
  async (title, seconds) => {
    await using world = await startWorld(`two-${title}`);
    using clock = await createSteppedClock();
    clock.set(seconds);
    await using other = await startDaemonProcess({
      ...world.stage.environment,
      ...clock.environment,
      PORT: '0',
    });
    expect(other.logs.map(({ msg }) => msg)).toContain('daemon.started');
    const [before, at] = [await world.requests(), performance.now()];
    for (let changes = 1; changes <= 6; changes += 1) {
      await world.stage.move(['f0']);
      await vi.waitFor(() => expect(world.receiver.accepted()).toBe(changes), soon);
    }
    const polls = (performance.now() - at) / intervalMs;
    expect((await world.requests()) - before).toBeLessThanOrEqual(2 * (polls + 2));
  },
);
