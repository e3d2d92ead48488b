import { describe, expect, it } from 'vitest';
import { Lanes } from '../../../../src/delivery/schedule/lanes.ts';
import { Track } from '../../../../src/delivery/schedule/track.ts';
import { Limiter, SharedLimits } from '../../../../src/delivery/schedule/limiter.ts';
import { createCursor } from '../../../../src/subscriptions/cursor.ts';
import type { LogEntry } from '../../../../src/events/event-log.ts';

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

/** A track with nothing in flight; `start` returns the position of the next first attempt. */
function openTrack() {
  const limiter = new Limiter(new SharedLimits(64, () => false), 'sub', 0, 0);
  const lanes = new Lanes(new Map(), 0);
  const track = new Track({ cursor: createCursor(0, ''), lanes }, limiter, null);
  return {
    track,
    lanes,
    accept: (...filings: readonly [number, string, number?][]) => {
      for (const filing of filings) track.accept(entry(...filing), true);
    },
    isBusy: (filingId: string) => limiter.started(filingId, 0),
    start() {
      const turn = track.startFirst();
      if (turn !== null) limiter.started(turn.filingId, 0);
      return turn;
    },
    end(filingId: string) {
      limiter.ended(filingId);
      track.unblock(filingId);
    },
  };
}

describe('events that are untried', () => {
  it('get ready one per filing, in the order of the log', () => {
    const { accept, start, end } = openTrack();
    accept([1, 'a'], [2, 'a'], [3, 'b'], [4, 'a']);
    expect([1, 2, 3].map(() => start()?.position)).toEqual([1, 3, undefined]);
    end('b');
    expect(start()).toBeNull();
    end('a');
    expect(start()?.position).toBe(2);
    end('a');
    expect(start()?.position).toBe(4);
  });

  it('wait while something else of their filing is in flight', () => {
    const { accept, isBusy, start, end } = openTrack();
    isBusy('a');
    accept([1, 'a'], [2, 'b']);
    expect(start()?.position).toBe(2);
    isBusy('c');
    accept([3, 'c']);
    expect(start()).toBeNull();
    end('a');
    end('c');
    expect([start()?.position, start()?.position]).toEqual([3, 1]);
  });

  it('go into the lane of a failed one before them', () => {
    const { track, lanes, accept, start, end } = openTrack();
    accept([1, 'a'], [2, 'a'], [3, 'a']);
    const turn = start();
    if (turn === null) throw new Error('nothing was started');
    track.settle(turn, { dueAt: 50, charged: true, eventAtFault: false }, 0);
    end('a');
    expect(start()).toBeNull();
    expect(lanes.get('a')?.positions).toEqual([1, 2, 3]);
  });

  it('keep the bodies of a megabyte of followers and the positions of all', () => {
    const { accept, isBusy, start, end } = openTrack();
    for (let position = 1; position <= 15; position += 1) accept([position, 'a', 100_000]);
    const bodies = Array.from({ length: 15 }, () => {
      const turn = start();
      end('a');
      return turn?.entry != null;
    });
    expect(bodies).toEqual(Array.from({ length: 15 }, (_, i) => i <= 10));
    isBusy('a');
    accept([16, 'a', 1_000_000]);
    end('a');
    expect(start()?.entry?.position).toBe(16);
  });
});
