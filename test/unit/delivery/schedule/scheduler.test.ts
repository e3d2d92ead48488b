import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CallbackOutcome } from '../../../../src/callbacks/outcome.ts';
import { Lanes, newLane } from '../../../../src/delivery/schedule/lanes.ts';
import { SendScheduler } from '../../../../src/delivery/schedule/scheduler.ts';
import type { Work } from '../../../../src/delivery/schedule/track.ts';
import { Limiter, SharedLimits } from '../../../../src/delivery/schedule/limiter.ts';
import type { EndpointHealth } from '../../../../src/delivery/schedule/endpoint-health.ts';
import { createCursor } from '../../../../src/subscriptions/cursor.ts';
import type { LogEntry } from '../../../../src/events/event-log.ts';
import { createSimulation, judge } from './drain-simulation.ts';

const rules = { retryMs: [100, 200], random: () => 0.5 };
const maxInFlight = 3;
const healthy: EndpointHealth = {
  failures: 0,
  failedFilings: [],
  failingSince: 0,
  lastSuccessAt: 0,
  workedAt: 0,
  pausedUntil: 0,
  probes: 0,
  obstacle: '',
};
const outcomes = {
  delivered: { kind: 'delivered', code: 'delivered' },
  retry: { kind: 'retry', code: 'http_error', sent: true, reason: '' },
  ours: { kind: 'retry', code: 'sender_error', sent: false, reason: '' },
  refused: { kind: 'retry', code: 'connection_refused', sent: false, reason: '' },
  gone: { kind: 'gone', code: 'gone', reason: '' },
  slow: { kind: 'slow_down', code: 'slow_down', retryAfterMs: 5_000, reason: '' },
} as const satisfies Record<string, CallbackOutcome>;
const aborted: CallbackOutcome = { kind: 'aborted', code: 'aborted', reason: '' };

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

function openScheduler(filings: string, health: Partial<EndpointHealth> = {}, retryMs = rules.retryMs) {
  const cursor = createCursor(0, '');
  const lanes = new Lanes(new Map(), 0);
  const scheduler = new SendScheduler(
    { ...rules, retryMs },
    {
      cursor,
      lanes,
      health: { ...healthy, ...health },
      releasedAt: 0,
      limiter: new Limiter(new SharedLimits(maxInFlight, () => false), 'sub', 0, 0),
    },
  );
  for (const [i, filing] of filings.split('').entries())
    scheduler.live.accept(entry(i + 1, filing), filing !== '-');
  const startAll = (now: number) => {
    const started: Work[] = [];
    for (let work = scheduler.startNext(now); work !== null; work = scheduler.startNext(now))
      started.push(work);
    return started;
  };
  const finish = (work: Work | undefined, outcome: CallbackOutcome, now: number) => {
    if (work === undefined) throw new Error('nothing was started');
    const verdict = judge(scheduler, work, outcome, now);
    scheduler.unblock(work);
    return { givenUp: verdict.fate === 'given_up', judged: verdict.judged };
  };
  return { scheduler, cursor, lanes, startAll, finish };
}

const positions = (works: readonly Work[]) => works.map(({ position }) => position);

describe('the scheduler of a drain', () => {
  it('starts one event per filing, up to its bound, passing over what is not wanted', () => {
    const { startAll, finish, cursor } = openScheduler('a-abcd');
    const [first, ...others] = startAll(0);
    expect([first?.position, ...positions(others)]).toEqual([1, 4, 5]);
    finish(first, outcomes.delivered, 1);
    expect(positions(startAll(1))).toEqual([3]);
    expect([cursor.position(), cursor.done()]).toEqual([2, '']);
  });

  it('keeps a filing closed until its outcome is written', () => {
    const { scheduler, startAll } = openScheduler('aa');
    const [first] = startAll(0);
    if (first === undefined) throw new Error('nothing was started');
    judge(scheduler, first, outcomes.delivered, 1);
    expect(startAll(1)).toEqual([]);
    scheduler.unblock(first);
    expect(positions(startAll(1))).toEqual([2]);
  });

  it('moves a failed event and those behind it to a lane, and new ones of its filing too', () => {
    const { scheduler, startAll, finish, lanes, cursor } = openScheduler('aab');
    const [first] = startAll(0);
    expect(finish(first, outcomes.retry, 10)).toEqual({ givenUp: false, judged: true });
    scheduler.live.accept(entry(4, 'a'), true);
    expect(lanes.get('a')).toMatchObject({ positions: [1, 2, 4], spent: 1, tried: 1, dueAt: 110 });
    expect(cursor.done()).toBe('4');
    expect(startAll(109)).toEqual([]);
    expect(startAll(110)).toMatchObject([{ position: 1, attempt: 2, entry: null, probe: false }]);
  });

  it('charges no retry for being told to wait, for 410, for its own failings or for a release meanwhile', () => {
    for (const outcome of [outcomes.slow, outcomes.gone, outcomes.ours, outcomes.refused]) {
      const { startAll, finish, lanes } = openScheduler('a');
      finish(startAll(0)[0], outcome, 10);
      expect(lanes.get('a')).toMatchObject({ spent: 0, tried: 1 });
    }
    const { scheduler, startAll, finish, lanes } = openScheduler('a');
    const [first] = startAll(0);
    scheduler.retryNow(5);
    expect(finish(first, outcomes.retry, 10)).toEqual({ givenUp: false, judged: false });
    expect(lanes.get('a')).toMatchObject({ spent: 0, tried: 1, dueAt: 10 });
    expect(scheduler.health()).toEqual(healthy);
  });

  it('leaves what was aborted where it was: not done, not failed, and no sign against the endpoint', () => {
    const { scheduler, startAll, finish, cursor, lanes } = openScheduler('abc');
    const [first, second, third] = startAll(0);
    finish(second, outcomes.retry, 1);
    const health = scheduler.health();
    const [retry] = startAll(200);
    const lane = lanes.get('b');
    for (const work of [first, third, retry])
      expect(finish(work, aborted, 300)).toEqual({ givenUp: false, judged: false });
    expect([cursor.position(), cursor.done()]).toEqual([0, '2']);
    expect(retry?.attempt).toBe(2);
    expect(lanes.get('b')).toEqual(lane);
    expect(lanes.parked()).toBe(1);
    expect(scheduler.health()).toEqual(health);
  });

  it('tries again within five minutes what could not be sent, however long the schedule waits', () => {
    const { startAll, finish, lanes } = openScheduler('a', {}, [3_600_000]);
    finish(startAll(0)[0], outcomes.refused, 10);
    expect(lanes.get('a')).toMatchObject({ spent: 0, dueAt: 300_010 });
  });

  it('sends nothing while it is paused and one probe when the pause is over', () => {
    const { scheduler, startAll, finish } = openScheduler('abcdef', { probes: 1, pausedUntil: 50 });
    expect([startAll(49), scheduler.nextDueAt(49)]).toEqual([[], 50]);
    const probes = startAll(50);
    expect(probes).toMatchObject([{ position: 1, probe: true }]);
    finish(probes[0], outcomes.delivered, 60);
    expect(startAll(60)).toHaveLength(3);
  });

  it('takes probes in turn from the log and from the lanes, due or not', () => {
    const { startAll, finish } = openScheduler('abcdefgh', { probes: 1 });
    const seen: number[] = [];
    let now = 0;
    for (let i = 0; i < 6; i += 1) {
      const [probe] = startAll(now);
      seen.push(probe?.position ?? 0);
      finish(probe, outcomes.retry, now);
      now += 1_000_000;
    }
    expect(seen).toEqual([1, 1, 2, 1, 3, 2]);
  });

  it('lets a retry go first every fourth time and a replay every sixteenth, so that none starves', () => {
    const { scheduler, startAll, finish } = openScheduler('r');
    finish(startAll(0)[0], outcomes.retry, 0);
    const replayed = { cursor: createCursor(0, ''), lanes: new Lanes(new Map(), 0) };
    const track = scheduler.startReplay('rpl', replayed);
    const kinds: string[] = [];
    let position = 2;
    for (let i = 0; i < 32; i += 1) {
      scheduler.live.accept(entry(position, `live${position}`), true);
      track.accept(entry(position, `old${position}`), true);
      position += 1;
      const work = scheduler.startNext(1_000);
      if (work === null) throw new Error('nothing was started');
      kinds.push(work.replay !== null ? 'replay' : work.entry === null ? 'retry' : 'first');
      finish(work, work.entry === null ? outcomes.gone : outcomes.delivered, 1_000);
    }
    const count = (kind: string) => kinds.filter((each) => each === kind).length;
    expect([count('first'), count('retry'), count('replay')]).toEqual([24, 6, 2]);
  });

  it('starts no lane of a replay, and is not due for it, while an earlier event of the filing waits', () => {
    const { scheduler, startAll, finish } = openScheduler('-ab');
    for (const work of startAll(0)) finish(work, outcomes.retry, 0);
    const lanes = new Lanes(new Map([['a', newLane([1, 9], 0)]]), 0);
    scheduler.startReplay('rpl', {
      cursor: createCursor(9, ''),
      lanes,
      isBlocked: (filingId, position) => scheduler.live.waits(filingId, position),
    });
    expect([1, 2, 3, 9].map((position) => scheduler.live.waits('a', position))).toEqual([
      false,
      false,
      true,
      true,
    ]);
    const [older] = startAll(1);
    expect(older).toMatchObject({ replay: 'rpl', position: 1 });
    finish(older, outcomes.delivered, 1);
    expect([startAll(1), scheduler.nextDueAt(1)]).toEqual([[], 100]);
    const retries = startAll(100);
    expect(retries).toMatchObject([
      { replay: null, position: 2 },
      { replay: null, position: 3 },
    ]);
    finish(retries[0], outcomes.delivered, 100);
    expect(startAll(100)).toMatchObject([{ replay: 'rpl', position: 9 }]);
  });

  it('gives a replay half of the places at most', () => {
    const { scheduler, startAll } = openScheduler('');
    const track = scheduler.startReplay('rpl', {
      cursor: createCursor(0, ''),
      lanes: new Lanes(new Map(), 0),
    });
    for (const [i, filing] of 'abcdef'.split('').entries()) track.accept(entry(i + 1, filing), true);
    expect(startAll(0)).toMatchObject([{ replay: 'rpl', position: 1 }]);
    scheduler.live.accept(entry(9, 'a'), true);
    scheduler.live.accept(entry(10, 'x'), true);
    expect(startAll(0)).toMatchObject([{ replay: null, position: 10 }]);
  });

  it('reads large events only for the places that are free, small ones ahead', () => {
    const { scheduler, startAll, finish } = openScheduler('');
    let position = 0;
    const takeIn = (bytes: number) => {
      const before = position;
      for (; scheduler.live.hasRoom(); position += 1)
        scheduler.live.accept(entry(position + 1, `f${position}`, bytes), true);
      return position - before;
    };
    expect(takeIn(1024 * 1024)).toBe(3);
    const [first] = startAll(0);
    expect(takeIn(1024 * 1024)).toBe(1);
    expect(takeIn(1)).toBe(0);
    finish(first, outcomes.delivered, 0);
    startAll(0);
    expect(takeIn(1)).toBe(6);
  });

  it('reads only so far beyond a slow filing that what is done between its events stays a few kilobytes', () => {
    const { scheduler, cursor, startAll, finish } = openScheduler('a');
    startAll(0);
    for (let position = 2; scheduler.live.hasRoom(); position += 2) {
      scheduler.live.accept(entry(position, 'a'), true);
      scheduler.live.accept(entry(position + 1, `other${position}`), true);
      finish(startAll(0)[0], outcomes.delivered, 0);
    }
    const { length } = cursor.done();
    expect(length).toBeGreaterThan(1_000);
    expect(length).toBeLessThan(8_000);
  });
});

it('whatever happens, keeps each filing in order, loses nothing, and never has two of a filing in flight', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('a', 'b', 'c', 'd', 'e', '-'), { minLength: 1, maxLength: 40, size: 'max' }),
      fc.array(
        fc.oneof(
          {
            weight: 4,
            arbitrary: fc.record({ do: fc.constant('read' as const), count: fc.integer({ min: 1, max: 8 }) }),
          },
          { weight: 6, arbitrary: fc.record({ do: fc.constant('start' as const) }) },
          {
            weight: 8,
            arbitrary: fc.record({
              do: fc.constant('settle' as const),
              which: fc.nat({ max: 9 }),
              outcome: fc.constantFrom<CallbackOutcome>(
                ...Object.values(outcomes),
                outcomes.delivered,
                outcomes.retry,
              ),
            }),
          },
          { weight: 4, arbitrary: fc.record({ do: fc.constant('write' as const) }) },
          {
            weight: 3,
            arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 400 }) }),
          },
          { weight: 1, arbitrary: fc.record({ do: fc.constant('crash' as const) }) },
          { weight: 1, arbitrary: fc.record({ do: fc.constant('release' as const) }) },
          { weight: 1, arbitrary: fc.record({ do: fc.constant('replay' as const) }) },
        ),
        { maxLength: 120, size: 'max' },
      ),
      (filings, steps) => {
        const simulation = createSimulation({ ...rules, maxInFlight }, filings);
        for (const step of steps) simulation.take(step);
        expect(simulation.finish()).toEqual({ cursor: filings.length, done: '', lanes: 0 });
      },
    ),
    { numRuns: 300 },
  );
});
