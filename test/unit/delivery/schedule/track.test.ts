import { describe, expect, it } from 'vitest';
import { createUntriedEvents } from '../../../../src/delivery/schedule/track.ts';
import type { LogEntry } from '../../../../src/events/event-log.ts';

const noFiling = () => false;

function entry(position: number, filingId: string, bytes = 0): LogEntry {
  return {
    position,
    id: `evt_${position}`,
    type: 't',
    filingId,
    state: '',
    status: '',
    recordedAt: 0,
    timeline: '',
    bytes,
    body: Buffer.alloc(0),
  };
}

describe('untried events', () => {
  it('get ready one per filing, in the order of the log', () => {
    const untried = createUntriedEvents();
    for (const [i, filing] of ['a', 'a', 'b', 'a'].entries()) untried.accept(entry(i + 1, filing), false);
    expect([untried.ready(), untried.followers()]).toEqual([2, 2]);
    expect([1, 2, 3].map(() => untried.start(noFiling)?.position)).toEqual([1, 3, undefined]);
    untried.unblock('b');
    expect(untried.start(noFiling)).toBeNull();
    untried.unblock('a');
    expect(untried.start(noFiling)?.position).toBe(2);
    untried.unblock('a');
    expect(untried.start(noFiling)?.position).toBe(4);
    expect([untried.ready(), untried.followers()]).toEqual([0, 0]);
  });

  it('wait while something else of their filing is in flight', () => {
    const untried = createUntriedEvents();
    untried.accept(entry(1, 'a'), true);
    untried.accept(entry(2, 'b'), false);
    expect(untried.start(noFiling)?.position).toBe(2);
    untried.accept(entry(3, 'c'), false);
    expect(untried.start((filing) => filing === 'c')).toBeNull();
    untried.unblock('a');
    untried.unblock('a');
    expect([untried.start(noFiling)?.position, untried.start(noFiling)?.position]).toEqual([1, 3]);
  });

  it('can leave those behind a failed one', () => {
    const untried = createUntriedEvents();
    for (const position of [1, 2, 3]) untried.accept(entry(position, 'a'), false);
    untried.start(noFiling);
    expect(untried.removeFollowers('a')).toEqual([2, 3]);
    expect(untried.removeFollowers('a')).toEqual([]);
    untried.unblock('a');
    expect(untried.start(noFiling)).toBeNull();
  });

  it('keep the bodies of a megabyte of followers and the positions of all', () => {
    const untried = createUntriedEvents();
    for (let position = 1; position <= 15; position += 1)
      untried.accept(entry(position, 'a', 100_000), false);
    const bodies = Array.from({ length: 15 }, () => {
      const next = untried.start(noFiling);
      untried.unblock('a');
      return next?.entry != null;
    });
    expect(bodies).toEqual(Array.from({ length: 15 }, (_, i) => i <= 10));
    untried.accept(entry(16, 'a', 1_000_000), true);
    untried.unblock('a');
    expect(untried.start(noFiling)?.entry?.position).toBe(16);
  });

  it('count the bytes of what is ready', () => {
    const untried = createUntriedEvents();
    untried.accept(entry(1, 'a', 100), false);
    untried.accept(entry(2, 'a', 10), false);
    untried.accept(entry(3, 'b', 1), false);
    expect(untried.readyBytes()).toBe(101);
    untried.start(noFiling);
    expect(untried.readyBytes()).toBe(1);
    untried.unblock('a');
    expect(untried.readyBytes()).toBe(11);
  });
});
