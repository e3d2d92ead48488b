import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createBusyWatch } from '../../../src/waiting/busy-process.ts';

function work(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test('a process is busy while its event loop has no rest, and no longer once it has', async () => {
  const isBusy = createBusyWatch();
  expect(isBusy()).toBe(false);
  for (let turn = 0; turn < 4; turn += 1) {
    work(30);
    // oxlint-disable-next-line no-await-in-loop
    await new Promise(setImmediate);
  }
  expect(isBusy()).toBe(true);
  await sleep(100);
  expect(isBusy()).toBe(false);
});
