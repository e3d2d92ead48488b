import { afterAll, expect, test, vi } from 'vitest';
import { startDaemonProcess } from '../support/daemon/daemon-process.ts';
import { createLatch, startReceiver, type Receiver } from '../support/receivers/receiver.ts';
import { testRedis } from '../support/redis/test-redis.ts';
import { startStage } from '../support/daemon/delivery-stage.ts';
import { expectNone } from '../support/expect-none.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const slow = { timeout: 40_000, interval: 50 };
const sum = (numbers: readonly number[]) => numbers.reduce((total, each) => total + each, 0);

/**
 * How many callbacks came again, and whether any came more than twice or before a former event of its filing.
 */
function judge({ received }: Receiver) {
  const first = received.filter(({ attempt }) => attempt === 1);
  const orders = Map.groupBy(first, ({ filingId }) => filingId).values();
  return {
    inOrder: [...orders].every((events) => events.every(({ sequence }, i) => sequence === i + 1)),
    repeats: received.length - first.length,
    thrice: received.filter(({ attempt }) => attempt > 2).map(({ id }) => id),
  };
}

test('a daemon that was stopped beyond its deadlines, while another took over, repeats only what it had in flight, and nothing out of order', async () => {
  const allowed = { rssMiB: 350, files: 20 * 5 + 80 };
  const apart = { DELIVERY_TIMEOUT_MS: '4000', ROLES: 'api,poll' };
  await using stage = await startStage(redis, 5, apart, allowed);
  await using second = await startDaemonProcess({ ...stage.environment, ROLES: 'deliver' });
  await using stack = new AsyncDisposableStack();
  const receivers = await Promise.all(
    Array.from({ length: 20 }, async () => stack.use(await startReceiver())),
  );
  await Promise.all(receivers.map((receiver) => stage.subscribe(receiver.url)));
  const arrived = async (rounds: number) =>
    vi.waitFor(() => {
      for (const { accepted } of receivers)
        expect(new Set(accepted.map(({ id }) => id)).size).toBe(5 * rounds);
    }, slow);
  for (const round of [1, 2, 3]) {
    // oxlint-disable no-await-in-loop
    await stage.move();
    await arrived(round);
    // oxlint-enable no-await-in-loop
  }

  const latch = createLatch();
  for (const receiver of receivers)
    receiver.answer(async () => {
      await latch.opened;
      return 200;
    });
  await stage.move();
  await vi.waitFor(() => expect(receivers.map((each) => each.inFlight())).toEqual(Array(20).fill(5)), slow);
  stack.use(await startDaemonProcess({ ...stage.environment, ROLES: 'deliver' }));
  process.kill(second.pid, 'SIGSTOP');
  latch.open();
  await stage.move();
  await arrived(5);
  process.kill(second.pid, 'SIGCONT');
  for (const round of [6, 7]) {
    // oxlint-disable no-await-in-loop
    await stage.move();
    await arrived(round);
    // oxlint-enable no-await-in-loop
  }
  const judged = receivers.map(judge);
  expectNone(judged, ({ inOrder, thrice }) => !inOrder || thrice.length > 0, 'receivers');
  const repeats = sum(judged.map((each) => each.repeats));
  expect(repeats).toBeGreaterThan(0);
  expect(repeats).toBeLessThanOrEqual(20 * 5);
}, 90_000);
