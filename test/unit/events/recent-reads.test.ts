import { expect, test, vi } from 'vitest';
import type { LogEntry, LogRead } from '../../../src/events/event-log.ts';
import { createRecentReads } from '../../../src/events/recent-reads.ts';
import { logBeginning } from '../../../src/events/timeline.ts';
import { entriesOf } from './log-entries.ts';

const after = logBeginning;

function openReads() {
  const world = { now: 0, reads: 0, entries: entriesOf('a', 'b') as readonly LogEntry[], more: true };
  const recently = createRecentReads(() => world.now);
  const read = (from = after, count = 2) =>
    recently('account', from, count, (): Promise<LogRead> => {
      world.reads += 1;
      return Promise.resolve({ entries: world.entries, more: world.more });
    });
  return { world, read };
}

test('who reads a stretch while or shortly after somebody else does gets the same entries', async () => {
  const { world, read } = openReads();
  const [one, two] = await Promise.all([read(), read()]);
  world.now = 999;
  const three = await read();
  expect([world.reads, one === two, two === three]).toEqual([1, true, true]);
  await read({ position: 2, timeline: '' });
  world.now = 1_000;
  await read();
  expect(world.reads).toBe(3);
});

test('a stretch that ends at the head is read anew, for it may have grown', async () => {
  const { world, read } = openReads();
  world.more = false;
  world.entries = entriesOf('a');
  const first = read();
  world.entries = entriesOf('a', 'b');
  expect([(await first).entries.length, (await read()).entries.length, world.reads]).toEqual([1, 2, 2]);
});

test('a stretch of another timeline than the reader is on is read anew', async () => {
  const { world, read } = openReads();
  const [, , third] = entriesOf('a', 'b', 'c');
  const [, other] = entriesOf('a', 'other');
  world.entries = third === undefined ? [] : [third];
  await read(entriesOf('a', 'b')[1]);
  await read(entriesOf('a', 'b')[1]);
  expect(world.reads).toBe(1);
  await read(other);
  expect(world.reads).toBe(2);
});

test('what nobody asks for any more is let go after a second', async () => {
  vi.useFakeTimers();
  try {
    const recently = createRecentReads(() => 0);
    await recently('account', after, 2, () => Promise.resolve({ entries: entriesOf('a', 'b'), more: true }));
    expect(vi.getTimerCount()).toBe(1);
    vi.advanceTimersByTime(1_000);
    expect(vi.getTimerCount()).toBe(0);
    let reads = 0;
    await recently('account', after, 2, () => {
      reads += 1;
      return Promise.resolve({ entries: [], more: false });
    });
    expect(reads).toBe(1);
  } finally {
    vi.useRealTimers();
  }
});

test('no more than 8 MiB are kept, whatever the size of a body', async () => {
  const recently = createRecentReads(() => 0);
  let reads = 0;
  const read = (account: string) =>
    recently(account, after, 1, () => {
      reads += 1;
      const entries = entriesOf('a').map((entry) => ({ ...entry, bytes: 4 * 1024 * 1024 }));
      return Promise.resolve({ entries, more: true });
    });
  await read('one');
  await read('two');
  await read('one');
  expect(reads).toBe(2);
  await read('three');
  await read('two');
  expect(reads).toBe(3);
  await read('one');
  expect(reads).toBe(4);
});

test('a read that fails fails for its own reader only', async () => {
  const recently = createRecentReads(() => 0);
  const failing = recently('k', after, 1, () => Promise.reject(new Error('away')));
  const other = recently('k', after, 1, () => Promise.resolve({ entries: entriesOf('a'), more: true }));
  await expect(failing).rejects.toThrow('away');
  expect((await other).entries).toHaveLength(1);
});
