import { describe, expect, it } from 'vitest';
import {
  isEventAtFault,
  laneAfterFailure,
  laneAfterHead,
  laneRetriedNow,
  Lanes,
  newLane,
  type Lane,
} from '../../../../src/delivery/schedule/lanes.ts';

const noFiling = () => false;

describe('a lane', () => {
  it('counts an attempt, and charges a retry where it is told to', () => {
    const lane = { ...newLane([4, 9], 0), spent: 1, tried: 1 };
    const wait = { dueAt: 70, charged: true, eventAtFault: false };
    expect(laneAfterFailure(lane, wait, 50)).toEqual({
      positions: [4, 9],
      spent: 2,
      tried: 2,
      dueAt: 70,
      decidedAt: 50,
    });
    expect(laneAfterFailure(lane, { ...wait, charged: false }, 50)).toMatchObject({ spent: 1, tried: 2 });
    expect(laneAfterFailure(lane, { ...wait, eventAtFault: true }, 50)).toMatchObject({ proven: true });
  });

  it('gets back what it spent when the endpoint is found to work again, unless its event is proven to be at fault', () => {
    const failed = { ...newLane([4], 0), spent: 1, tried: 2, dueAt: 900, decidedAt: 100 };
    expect(laneRetriedNow(failed, 200)).toEqual({ ...failed, spent: 0, dueAt: 200 });
    expect(laneRetriedNow({ ...failed, proven: true }, 200)).toEqual({ ...failed, proven: true, dueAt: 200 });
    expect([isEventAtFault(failed, 100), isEventAtFault(failed, 101)]).toEqual([false, true]);
    expect([isEventAtFault(newLane([4], 0), 50), isEventAtFault(undefined, 50)]).toEqual([false, false]);
    expect(isEventAtFault({ ...failed, proven: true }, 0)).toBe(true);
    expect(laneAfterHead({ ...failed, positions: [4, 5], proven: true }, 300)).toEqual(newLane([5], 300));
  });

  it('ends with its last event', () => {
    expect(laneAfterHead(newLane([4, 5], 0), 7)).toEqual(newLane([5], 7));
    expect(laneAfterHead(newLane([5], 0), 7)).toBeNull();
  });
});

describe('lanes', () => {
  const stored = new Map([
    ['late', { ...newLane([1], 0), dueAt: 300 }],
    ['soon', { ...newLane([2, 3], 0), dueAt: 100 }],
    ['sooner', { ...newLane([4], 0), dueAt: 50 }],
  ]);

  it('gives out what is due, the first due first, each once', () => {
    const lanes = new Lanes(stored, 0);
    expect(lanes.start(49, noFiling)).toBeNull();
    expect(lanes.start(200, noFiling)?.filingId).toBe('sooner');
    expect(lanes.start(200, noFiling)?.filingId).toBe('soon');
    expect(lanes.start(200, noFiling)).toBeNull();
    expect(lanes.nextDueAt()).toBe(300);
    expect(lanes.start(Infinity, noFiling)?.filingId).toBe('late');
    expect(lanes.nextDueAt()).toBeNull();
  });

  it('passes over those whose filing is busy', () => {
    const lanes = new Lanes(stored, 0);
    expect(lanes.start(200, (filingId) => filingId === 'sooner')?.filingId).toBe('soon');
    expect(lanes.start(200, noFiling)?.filingId).toBe('sooner');
  });

  it('takes lanes back in their order and tells what has changed', () => {
    const lanes = new Lanes(stored, 0);
    const started = lanes.start(60, noFiling);
    lanes.append('sooner', 8);
    const next = { ...newLane([4, 8], 60), dueAt: 200 };
    lanes.put('sooner', next);
    lanes.put('new', newLane([9], 60));
    expect(started?.lane.positions).toEqual([4]);
    expect(lanes.removeChanges()).toEqual(
      new Map([
        ['sooner', next],
        ['new', newLane([9], 60)],
      ]),
    );
    expect(lanes.removeChanges()).toEqual(new Map());
    expect([1, 2, 3, 4].map(() => lanes.start(Infinity, noFiling)?.filingId)).toEqual([
      'new',
      'soon',
      'sooner',
      'late',
    ]);
  });

  it('counts what is parked', () => {
    const lanes = new Lanes(stored, 0);
    expect(lanes.parked()).toBe(4);
    lanes.append('late', 7);
    lanes.append('unknown', 7);
    expect(lanes.parked()).toBe(5);
    lanes.start(60, noFiling);
    lanes.put('sooner', null);
    expect(lanes.parked()).toBe(4);
    expect(lanes.get('sooner')).toBeUndefined();
  });

  it('releases all at once, without having to write them', () => {
    const lanes = new Lanes(stored, 0);
    lanes.retryNow(60);
    expect([lanes.nextDueAt(), lanes.removeChanges().size]).toEqual([50, 0]);
    expect([1, 2, 3].map(() => lanes.start(60, noFiling)?.filingId)).toEqual(['sooner', 'soon', 'late']);
  });

  it('gives those in flight their spent retries back, too, when all are released', () => {
    const lanes = new Lanes(new Map([['a', { ...newLane([1], 0), spent: 2, tried: 2 }]]), 0);
    lanes.start(0, noFiling);
    lanes.retryNow(60);
    expect(lanes.get('a')).toMatchObject({ spent: 0, tried: 2 });
    expect([lanes.start(60, noFiling), lanes.removeChanges().size]).toEqual([null, 0]);
  });

  it('knows a release from its time: what was decided before it is due since then', () => {
    const after = new Map([...stored, ['after', { ...newLane([6], 80), dueAt: 900 }] as const]);
    const lanes = new Lanes(after, 80);
    const due = [1, 2, 3].map(() => lanes.start(80, noFiling)?.filingId);
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
    const lanes = new Lanes(new Map(many), 0);
    for (let i = 0; i < 10_000; i += 1) {
      const due = lanes.start(20_000, () => {
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
