import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { afterAll, expect, test, vi } from 'vitest';
import { startReceiver, receiverSecret, type Callback } from '../support/receiver.ts';
import { testRedis } from '../support/redis.ts';
import { startStage } from './delivery-stage.ts';

const redis = testRedis();
afterAll(() => redis.cleanup());

const slow = { timeout: 30_000, interval: 20 };
const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`;

function verifiesWith(secret: string, { raw, headers }: Callback): boolean {
  try {
    new Webhook(secret).verify(raw, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}

test('rotated again and again under load, every callback verifies with the secret before and the new one; after the grace the old is gone', async () => {
  await using stage = await startStage(redis, 20);
  await using receiver = await startReceiver();
  const path = await stage.subscribe(receiver.url);
  const secrets = [receiverSecret];
  for (let rotation = 1; rotation <= 8; rotation += 1) {
    const [current = ''] = secrets;
    const secret = newSecret();
    const graceMs = rotation === 8 ? 1_500 : 60_000;
    secrets.unshift(secret);
    // What a receiver knows that takes up the new secret before it is announced, and forgets the one before the last.
    receiver.secrets = [current];
    // oxlint-disable no-await-in-loop
    await stage.move();
    await stage.daemon.api.ok('POST', `${path}/rotate-secret`, { secret, graceMs });
    await vi.waitFor(() => expect(receiver.accepted.length).toBeGreaterThanOrEqual(rotation * 20), slow);
    // oxlint-enable no-await-in-loop
  }
  expect(receiver.refused).toEqual([]);
  expect(receiver.accepted).toHaveLength(160);
  for (const callback of receiver.received) {
    const signatures = String(callback.headers['webhook-signature']).split(' ');
    expect(signatures.length).toBeLessThanOrEqual(5);
  }

  const [current = '', former = ''] = secrets;
  receiver.secrets = [current];
  await vi.waitFor(async () => {
    const { length } = receiver.accepted;
    await stage.move(['f0']);
    await vi.waitFor(() => expect(receiver.accepted.length).toBeGreaterThan(length), slow);
    const last = receiver.received.at(-1);
    expect(last !== undefined && verifiesWith(former, last)).toBe(false);
  }, slow);
}, 60_000);
