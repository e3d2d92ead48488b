import { afterAll, expect, test, vi } from 'vitest';
import { generateSecret } from '../../src/subscriptions/signing-secret.ts';
import {
  receiverSecret,
  startReceiver,
  verifyWithLibraries,
  type Callback,
  type Receiver,
} from '../support/receivers/receiver.ts';
import { testRedis } from '../support/redis/test-redis.ts';
import { startStage, type DeliveryStage } from '../support/daemon/delivery-stage.ts';
import { expectNone } from '../support/expect-none.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const slow = { timeout: 30_000, interval: 20 };
const rotations = 20;

function verifiesWith(secret: string, { raw, headers }: Callback): boolean {
  try {
    verifyWithLibraries(secret, headers, raw);
    return true;
  } catch {
    return false;
  }
}

/**
 * Resolves once the latest callbacks, one per filing, verify with each of the secrets, and not with the
 * former one: none that was signed before is under way.
 */
async function untilSignedWith(
  receiver: Receiver,
  filings: number,
  secrets: readonly string[],
  former?: string,
): Promise<void> {
  const isSigned = (callback: Callback) =>
    secrets.every((secret) => verifiesWith(secret, callback)) &&
    (former === undefined || !verifiesWith(former, callback));
  await vi.waitFor(() => {
    const latest = receiver.received.slice(-filings);
    expect(latest.filter(isSigned)).toHaveLength(filings);
  }, slow);
}

/**
 * Moves all filings again and again, each time once the events of the time before have arrived, until it is
 * told to stop.
 */
function keepMoving(stage: DeliveryStage, receiver: Receiver): () => Promise<number> {
  let rounds = 0;
  let stopped = false;
  const moving = (async () => {
    while (!stopped) {
      rounds += 1;
      const expected = rounds * stage.filings.length;
      // oxlint-disable no-await-in-loop
      await stage.move();
      await vi.waitFor(() => expect(receiver.received.length).toBeGreaterThanOrEqual(expected), slow);
      // oxlint-enable no-await-in-loop
    }
    return rounds * stage.filings.length;
  })();
  return () => {
    stopped = true;
    return moving;
  };
}

test('rotated again and again under load, every callback verifies with the secret before and soon with the new one too; after the grace the old is gone', async () => {
  await using stage = await startStage(redis, 25);
  await using receiver = await startReceiver();
  const path = await stage.subscribe(receiver.url);
  const stopMoving = keepMoving(stage, receiver);
  let [current, former] = [receiverSecret, ''];
  for (let rotation = 1; rotation <= rotations; rotation += 1) {
    // What a receiver knows that takes up a new secret before it is announced, and forgets the one before the
    // last.
    receiver.secrets = [current];
    [former, current] = [current, generateSecret()];
    const isLast = rotation === rotations;
    const graceMs = isLast ? 5_000 : 60_000;
    // oxlint-disable no-await-in-loop
    await stage.daemon.api.ok('POST', `${path}/rotate-secret`, { secret: current, graceMs });
    // The last grace may be over before all filings have moved.
    await untilSignedWith(receiver, 25, isLast ? [current] : [former, current]);
    // oxlint-enable no-await-in-loop
  }
  receiver.secrets = [current];
  await untilSignedWith(receiver, 25, [current], former);
  const { length } = receiver.received;
  await vi.waitFor(() => expect(receiver.received.length).toBeGreaterThan(length), slow);
  const events = await stopMoving();
  expectNone(
    receiver.received.slice(length),
    (callback) => verifiesWith(former, callback),
    'callbacks after the change',
  );
  expect(receiver.refused).toEqual([]);
  expect(receiver.received).toHaveLength(events);
  for (const { headers } of receiver.received)
    expect(String(headers['webhook-signature']).split(' ').length).toBeLessThanOrEqual(5);
}, 90_000);
