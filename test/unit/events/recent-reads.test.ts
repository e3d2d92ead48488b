import { expect, test } from 'vitest';
import type { LogEntry } from '../../../src/events/event-log.ts';
import { createRecentReads } from '../../../src/events/recent-reads.ts';

const entry = (position: number): LogEntry => ({
  position,
  id: `evt_${position}`,
  type: 't',
  filingId: 'f',
  state: '',
  recordedAt: 0,
  body: Buffer.alloc(0),
});

function openReads() {
  const world = { losses: 0, now: 0, reads: 0, entries: [entry(1), entry(2)] };
  const recently = createRecentReads({ losses: () => world.losses, now: () => world.now });
  const read = (key = 'a 0 2', count = 2) =>
    recently(key, count, () => {
      world.reads += 1;
      return Promise.resolve(world.entries);
    });
  return { world, read };
}

test('who reads a stretch while or shortly after somebody else does gets the same entries', async () => {
  const { world, read } = openReads();
  const [one, two] = await Promise.all([read(), read()]);
  world.now = 999;
  const three = await read();
  expect([world.reads, one === two, two === three]).toEqual([1, true, true]);
  await read('a 2 2');
  world.now = 1_000;
  await read();
  expect(world.reads).toBe(3);
});

test('a stretch that ends at the head is read anew, for it may have grown', async () => {
  const { world, read } = openReads();
  world.entries = [entry(1)];
  const first = read();
  world.entries = [entry(1), entry(2)];
  expect([(await first).length, (await read()).length, world.reads]).toEqual([1, 2, 2]);
});

test('what was read before a connection was lost is read anew', async () => {
  const { world, read } = openReads();
  await read();
  world.losses = 1;
  await read();
  expect(world.reads).toBe(2);
});

test('a read that fails fails for its own reader only', async () => {
  const recently = createRecentReads({ losses: () => 0, now: () => 0 });
  const failing = recently('k', 1, () => Promise.reject(new Error('away')));
  const other = recently('k', 1, () => Promise.resolve([entry(1)]));
  await expect(failing).rejects.toThrow('away');
  expect(await other).toHaveLength(1);
});
