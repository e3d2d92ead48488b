import { expect, test, vi } from 'vitest';
import { startReceiver } from '../support/receivers/receiver.ts';
import { createSteppedClock, startSteppedRedis } from '../support/daemon/stepped-clock.ts';
import { startStage } from '../support/daemon/delivery-stage.ts';

const day = 86_400;
// Milliseconds; far less than by how much clocks are set here.
const soon = { timeout: 40_000, interval: 100 };

test("changes are told as ever after the daemon's clock was set back by 90 seconds", async () => {
  using clock = await createSteppedClock();
  using right = await createSteppedClock();
  await using redis = await startSteppedRedis(right);
  await using receiver = await startReceiver();
  const variables = { POLL_INTERVAL_MS: '2000', ...clock.environment };
  await using stage = await startStage({ url: redis.url, prefix: 'back' }, 2, variables);
  await stage.subscribe(receiver.url);
  await stage.move(['f0']);
  await vi.waitFor(() => expect(receiver.accepted).toHaveLength(1), soon);
  clock.set(-90);
  await stage.move(['f1']);
  await vi.waitFor(() => expect(receiver.accepted).toHaveLength(2), soon);
  await stage.move(['f0']);
  await vi.waitFor(() => expect(receiver.accepted).toHaveLength(3), soon);
});

test("changes are told as ever while Redis's clock is a day ahead, and when it is right again; nothing is deleted by it", async () => {
  using clock = await createSteppedClock();
  await using redis = await startSteppedRedis(clock);
  await using receiver = await startReceiver();
  const variables = { POLL_INTERVAL_MS: '500', EVENT_RETENTION_MS: '3600000' };
  await using stage = await startStage({ url: redis.url, prefix: 'ahead' }, 2, variables);
  await stage.subscribe(receiver.url);
  await stage.move(['f0']);
  await vi.waitFor(() => expect(receiver.accepted).toHaveLength(1), soon);
  clock.set(day);
  await stage.move(['f0']);
  await vi.waitFor(() => expect(receiver.accepted).toHaveLength(2), soon);
  await vi.waitFor(() => expect(stage.daemon.logs.map(({ msg }) => msg)).toContain('clock.stepped'), soon);
  // The same filing once more: what is known of it was read a day ahead.
  clock.set(0);
  await stage.move(['f0']);
  await vi.waitFor(() => expect(receiver.accepted).toHaveLength(3), soon);
  expect(await stage.all('/v1/accounts/default/events')).toHaveLength(3);
});
