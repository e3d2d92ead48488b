import { describe, expect, it } from 'vitest';
import { createFirstTries } from '../../../../src/delivery/schedule/first-tries.ts';
import type { LogEntry } from '../../../../src/events/event-log.ts';

const nobody = () => false;

function entry(position: number, filingId: string, bytes = 0): LogEntry {
  return {
    position,
    id: `evt_${position}`,
    type: 't',
    filingId,
    state: '',
    recordedAt: 0,
    timeline: '',
    bytes,
    body: Buffer.alloc(0),
  };
}

describe('first tries', () => {
  it('get ready one per filing, in the order of the log', () => {
    const tries = createFirstTries();
    for (const [i, filing] of ['a', 'a', 'b', 'a'].entries()) tries.add(entry(i + 1, filing), false);
    expect([tries.ready(), tries.followers()]).toEqual([2, 2]);
    expect([1, 2, 3].map(() => tries.take(nobody)?.position)).toEqual([1, 3, undefined]);
    tries.free('b');
    expect(tries.take(nobody)).toBeNull();
    tries.free('a');
    expect(tries.take(nobody)?.position).toBe(2);
    tries.free('a');
    expect(tries.take(nobody)?.position).toBe(4);
    expect([tries.ready(), tries.followers()]).toEqual([0, 0]);
  });

  it('wait while something else of their filing is in flight', () => {
    const tries = createFirstTries();
    tries.add(entry(1, 'a'), true);
    tries.add(entry(2, 'b'), false);
    expect(tries.take(nobody)?.position).toBe(2);
    tries.add(entry(3, 'c'), false);
    expect(tries.take((filing) => filing === 'c')).toBeNull();
    tries.free('a');
    tries.free('a');
    expect([tries.take(nobody)?.position, tries.take(nobody)?.position]).toEqual([1, 3]);
  });

  it('can leave those behind a failed one', () => {
    const tries = createFirstTries();
    for (const position of [1, 2, 3]) tries.add(entry(position, 'a'), false);
    tries.take(nobody);
    expect(tries.leaveFollowers('a')).toEqual([2, 3]);
    expect(tries.leaveFollowers('a')).toEqual([]);
    tries.free('a');
    expect(tries.take(nobody)).toBeNull();
  });

  it('keep the bodies of a megabyte of followers and the positions of all', () => {
    const tries = createFirstTries();
    for (let position = 1; position <= 15; position += 1) tries.add(entry(position, 'a', 100_000), false);
    const bodies = Array.from({ length: 15 }, () => {
      const next = tries.take(nobody);
      tries.free('a');
      return next?.entry != null;
    });
    expect(bodies).toEqual(Array.from({ length: 15 }, (_, i) => i <= 10));
    tries.add(entry(16, 'a', 1_000_000), true);
    tries.free('a');
    expect(tries.take(nobody)?.entry?.position).toBe(16);
  });

  it('count the bytes of what is ready', () => {
    const tries = createFirstTries();
    tries.add(entry(1, 'a', 100), false);
    tries.add(entry(2, 'a', 10), false);
    tries.add(entry(3, 'b', 1), false);
    expect(tries.readyBytes()).toBe(101);
    tries.take(nobody);
    expect(tries.readyBytes()).toBe(1);
    tries.free('a');
    expect(tries.readyBytes()).toBe(11);
  });
});
