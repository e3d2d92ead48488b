import { describe, expect, it } from 'vitest';
import { createLaneSet } from '../../../../src/delivery/schedule/lane-set.ts';
import {
  isProven,
  laneAfterFailure,
  laneAfterHead,
  laneKept,
  laneReleased,
  newLane,
  type Lane,
} from '../../../../src/delivery/schedule/lanes.ts';

const middle = () => 0.5;
const nobody = () => false;

describe('a lane', () => {
  it('spends its schedule step by step, then gives up its first event and tries the next at once', () => {
    const schedule = [100, 200];
    let lane: Lane | null = newLane([4, 9], 0);
    const seen = [];
    for (const now of [0, 1_000, 2_000, 3_000, 4_000, 5_000]) {
      if (lane === null) break;
      const failed = laneAfterFailure(lane, now, schedule, middle);
      lane = failed.lane;
      seen.push([failed.exhausted, lane?.positions, lane?.spent, lane?.tried, lane?.dueAt]);
    }
    expect(seen).toEqual([
      [false, [4, 9], 1, 1, 100],
      [false, [4, 9], 2, 2, 1_200],
      [true, [9], 0, 0, 2_000],
      [false, [9], 1, 1, 3_100],
      [false, [9], 2, 2, 4_200],
      [true, undefined, undefined, undefined, undefined],
    ]);
    expect(lane).toBeNull();
  });

  it('is not charged for an attempt that is not its fault', () => {
    expect(laneKept({ ...newLane([4], 0), spent: 1, tried: 1 }, 50, 70)).toEqual({
      positions: [4],
      spent: 1,
      tried: 2,
      dueAt: 70,
      decidedAt: 50,
    });
  });

  it('gets back what it spent when the endpoint is found to work again, unless its event is proven to be at fault', () => {
    const failed = { ...newLane([4], 0), spent: 1, tried: 2, dueAt: 900, decidedAt: 100 };
    expect(laneReleased(failed, 200)).toEqual({ ...failed, spent: 0, dueAt: 200 });
    expect(laneReleased({ ...failed, proven: true }, 200)).toEqual({ ...failed, proven: true, dueAt: 200 });
    expect([isProven(failed, 100), isProven(failed, 101)]).toEqual([false, true]);
    expect([isProven(newLane([4], 0), 50), isProven(undefined, 50)]).toEqual([false, false]);
    expect(isProven({ ...failed, proven: true }, 0)).toBe(true);
    expect(laneAfterHead({ ...failed, positions: [4, 5], proven: true }, 300)).toEqual(newLane([5], 300));
  });

  it('ends with its last event', () => {
    expect(laneAfterHead(newLane([4, 5], 0), 7)).toEqual(newLane([5], 7));
    expect(laneAfterHead(newLane([5], 0), 7)).toBeNull();
  });
});

describe('a set of lanes', () => {
  const stored = new Map([
    ['late', { ...newLane([1], 0), dueAt: 300 }],
    ['soon', { ...newLane([2, 3], 0), dueAt: 100 }],
    ['sooner', { ...newLane([4], 0), dueAt: 50 }],
  ]);

  it('gives out what is due, the first due first, each once', () => {
    const lanes = createLaneSet(stored, 0);
    expect(lanes.take(49, nobody)).toBeNull();
    expect(lanes.take(200, nobody)?.filingId).toBe('sooner');
    expect(lanes.take(200, nobody)?.filingId).toBe('soon');
    expect(lanes.take(200, nobody)).toBeNull();
    expect(lanes.nextDueAt()).toBe(300);
    expect(lanes.take(Infinity, nobody)?.filingId).toBe('late');
    expect(lanes.nextDueAt()).toBeNull();
  });

  it('passes over those whose filing is busy', () => {
    const lanes = createLaneSet(stored, 0);
    expect(lanes.take(200, (filingId) => filingId === 'sooner')?.filingId).toBe('soon');
    expect(lanes.take(200, nobody)?.filingId).toBe('sooner');
  });

  it('takes lanes back in their order and tells what has changed', () => {
    const lanes = createLaneSet(stored, 0);
    const taken = lanes.take(60, nobody);
    lanes.append('sooner', 8);
    const next = { ...newLane([4, 8], 60), dueAt: 200 };
    lanes.put('sooner', next);
    lanes.put('new', newLane([9], 60));
    expect(taken?.lane.positions).toEqual([4]);
    expect(lanes.changes()).toEqual(
      new Map([
        ['sooner', next],
        ['new', newLane([9], 60)],
      ]),
    );
    expect(lanes.changes()).toEqual(new Map());
    expect([1, 2, 3, 4].map(() => lanes.take(Infinity, nobody)?.filingId)).toEqual([
      'new',
      'soon',
      'sooner',
      'late',
    ]);
  });

  it('rests until the first is due, but not while one is in flight, for that may be tried again at once after a crash', () => {
    const lanes = createLaneSet(stored, 0);
    expect(lanes.restsUntil()).toBe(50);
    lanes.take(60, nobody);
    expect(lanes.restsUntil()).toBe(0);
    lanes.put('sooner', null);
    expect(lanes.restsUntil()).toBe(100);
    expect(createLaneSet(new Map(), 0).restsUntil()).toBe(0);
  });

  it('counts what is parked', () => {
    const lanes = createLaneSet(stored, 0);
    expect(lanes.parked()).toBe(4);
    lanes.append('late', 7);
    lanes.append('unknown', 7);
    expect(lanes.parked()).toBe(5);
    lanes.take(60, nobody);
    lanes.put('sooner', null);
    expect(lanes.parked()).toBe(4);
    expect(lanes.get('sooner')).toBeUndefined();
  });

  it('releases all at once, without having to write them', () => {
    const lanes = createLaneSet(stored, 0);
    lanes.release(60);
    expect([lanes.nextDueAt(), lanes.changes().size]).toEqual([50, 0]);
    expect([1, 2, 3].map(() => lanes.take(60, nobody)?.filingId)).toEqual(['sooner', 'soon', 'late']);
  });

  it('knows a release from its time: what was decided before it is due since then', () => {
    const after = new Map([...stored, ['after', { ...newLane([6], 80), dueAt: 900 }] as const]);
    const lanes = createLaneSet(after, 80);
    const due = [1, 2, 3].map(() => lanes.take(80, nobody)?.filingId);
    expect(new Set(due)).toEqual(new Set(['late', 'soon', 'sooner']));
    expect(lanes.nextDueAt()).toBe(900);
  });

  it('finds the next of ten thousand without looking at all of them', () => {
    let looks = 0;
    const laneDueAt = (dueAt: number): Lane => ({
      ...newLane([1], 0),
      get dueAt() {
        looks += 1;
        return dueAt;
      },
    });
    const many = Array.from({ length: 10_000 }, (_, i) => [`f${i}`, laneDueAt(i)] as const);
    const lanes = createLaneSet(new Map(many), 0);
    for (let i = 0; i < 10_000; i += 1) {
      const due = lanes.take(20_000, () => {
        looks += 1;
        return false;
      });
      if (due !== null) lanes.put(due.filingId, laneDueAt(50_000 + i));
    }
    // A scan of all of them each time makes a hundred million.
    expect(looks).toBeLessThan(10_000 * 20);
    expect(lanes.nextDueAt()).toBe(50_000);
  });
});
