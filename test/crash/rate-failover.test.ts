import { expect, test, vi } from 'vitest';
import { startDaemonProcess } from '../support/daemon/daemon-process.ts';
import { startStage } from '../support/daemon/delivery-stage.ts';
import { mostPerSecond, timedReceiver } from '../support/receivers/timed-receiver.ts';
import { startThreeSentinels } from './failovers/three-sentinels.ts';

const rate = 5;
// Milliseconds; an election takes a few seconds, and the daemons wait for its end.
const patient = { timeout: 120_000, interval: 20 };

test('two daemons hold a rate of five a second while the master behind sentinels fails twice, with a replica that lacks the last turns', async () => {
  await using group = await startThreeSentinels();
  await using paced = await timedReceiver();
  const variables = { POLL_INTERVAL_MS: '1000', REDIS_UNSAFE: 'true' };
  await using stage = await startStage({ url: group.url, prefix: 'rate' }, 30, variables);
  await using second = await startDaemonProcess({ ...stage.environment, ROLES: 'deliver' });
  const path = await stage.subscribe(paced.url, { rate });
  await group.untilWhole();
  for (const { run } of group.ways) {
    // oxlint-disable no-await-in-loop
    await stage.move();
    const before = paced.accepted.length;
    const undone = await run(async () => {
      await vi.waitFor(() => expect(paced.accepted.length).toBeGreaterThan(before + 5), patient);
    });
    expect(undone).toBeGreaterThan(0);
    // What was undone of the log is detected anew, so each filing comes to what it is.
    await vi.waitFor(async () => {
      const heard = new Set(paced.accepted.slice(before).map(({ filingId }) => filingId));
      expect(heard.size).toBe(30);
      expect(await stage.show(path)).toMatchObject({ lag: 0 });
    }, patient);
    // oxlint-enable no-await-in-loop
  }
  expect(mostPerSecond(paced.times)).toBeLessThanOrEqual(rate);
  expect(second.logs.length).toBeGreaterThan(0);
}, 400_000);
