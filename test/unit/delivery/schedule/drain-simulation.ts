import assert from 'node:assert/strict';
import type { CallbackOutcome } from '../../../../src/callbacks/outcome.ts';
import type { EndpointHealth } from '../../../../src/delivery/schedule/endpoint-health.ts';
import { Lanes, type Lane } from '../../../../src/delivery/schedule/lanes.ts';
import { SendScheduler, type SchedulerRules } from '../../../../src/delivery/schedule/scheduler.ts';
import type { Track, Work } from '../../../../src/delivery/schedule/track.ts';
import { verdictOn, type Verdict } from '../../../../src/delivery/schedule/verdict.ts';
import { Limiter, SharedLimits } from '../../../../src/delivery/schedule/limiter.ts';
import { createCursor, type Cursor } from '../../../../src/subscriptions/cursor.ts';
import type { LogEntry } from '../../../../src/events/event-log.ts';

/** Something that can happen to a subscription. */
export type Step =
  | { readonly do: 'read'; readonly count: number }
  | { readonly do: 'settle'; readonly which: number; readonly outcome: CallbackOutcome }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'start' | 'write' | 'crash' | 'release' | 'replay' };

/** A drain without Redis and HTTP, checked after every step. */
export interface Simulation {
  take(step: Step): void;
  /**
   * From now on everything succeeds; checks that everything wanted arrives, and returns what Redis holds
   * then.
   */
  finish(): { cursor: number; done: string; lanes: number };
}

// What Redis would hold.
interface Stored {
  readonly cursor: number;
  readonly done: string;
  readonly lanes: ReadonlyMap<string, Lane>;
  readonly health: EndpointHealth;
  readonly releasedAt: number;
  /** Delivered or given up, and written. */
  readonly ended: ReadonlySet<number>;
}

const healthy = {
  failures: 0,
  failedFilings: [],
  failingSince: 0,
  lastSuccessAt: 0,
  workedAt: 0,
  pausedUntil: 0,
  probes: 0,
  obstacle: '',
};

/** A log of one event per filing named; those of '-' are not wanted. Nothing has been delivered. */
export function createSimulation(
  rules: SchedulerRules & { readonly maxInFlight: number },
  filings: readonly string[],
): Simulation {
  const log = filings.map(toEntry);
  let stored: Stored = {
    cursor: 0,
    done: '',
    lanes: new Map(),
    health: healthy,
    releasedAt: 0,
    ended: new Set(),
  };
  let now = 1;
  const limits = new SharedLimits(rules.maxInFlight, () => false);
  let limiter: Limiter | undefined;
  let scheduler: SendScheduler;
  let cursor: Cursor;
  let lanes: Lanes;
  let ended: Set<number>;
  let readTo: number;
  let replay: Track | null;
  let replayTo: number;
  const inFlight = new Map<string, Work>();
  let settled: Work[] = [];

  function begin(): void {
    cursor = createCursor(stored.cursor, stored.done);
    lanes = new Lanes(stored.lanes, stored.releasedAt);
    limiter?.close();
    limiter = new Limiter(limits, 'sub', 0, now);
    scheduler = new SendScheduler(rules, { ...stored, cursor, lanes, limiter });
    ended = new Set(stored.ended);
    readTo = stored.cursor;
    replay = null;
    replayTo = 0;
    inFlight.clear();
    settled = [];
  }

  function read(count: number): void {
    for (const entry of log.slice(readTo, readTo + count)) {
      readTo = entry.position;
      if (!cursor.isDone(entry.position)) scheduler.live.accept(entry, entry.filingId !== '-');
    }
  }

  function start(): void {
    for (let work = scheduler.startNext(now); work !== null; work = scheduler.startNext(now)) {
      assert(!inFlight.has(work.filingId), 'two of a filing in flight');
      inFlight.set(work.filingId, work);
      assert(inFlight.size <= (work.probe ? 1 : rules.maxInFlight), 'too many in flight');
      assert(now >= scheduler.health().pausedUntil, 'sent during a pause');
      if (work.replay !== null) continue;
      assert(!ended.has(work.position), 'sent though it was over');
      for (const earlier of log.slice(0, work.position - 1))
        assert(
          earlier.filingId !== work.filingId || ended.has(earlier.position),
          'sent before an earlier one',
        );
    }
  }

  function settle(which: number, outcome: CallbackOutcome): void {
    const waiting = [...inFlight.values()].filter((work) => !settled.includes(work));
    const work = waiting[which % Math.max(1, waiting.length)];
    if (work === undefined) return;
    const givenUp = judge(scheduler, work, outcome, now).fate === 'given_up';
    if (work.replay === null && (givenUp || outcome.kind === 'delivered')) ended.add(work.position);
    settled.push(work);
  }

  function write(): void {
    const written = new Map(stored.lanes);
    for (const [filingId, lane] of lanes.removeChanges()) {
      if (lane === null) written.delete(filingId);
      else written.set(filingId, lane);
    }
    stored = {
      cursor: cursor.position(),
      done: cursor.done(),
      lanes: written,
      health: scheduler.health(),
      releasedAt: scheduler.releasedAt(),
      ended: new Set(ended),
    };
    for (const work of settled) {
      scheduler.unblock(work);
      inFlight.delete(work.filingId);
    }
    settled = [];
    checkStored();
  }

  // No position is passed that is neither at its end, nor waiting in a lane, nor unwanted; and none both
  // waits and is done.
  function checkStored(): void {
    const passed = createCursor(stored.cursor, stored.done);
    const parked = [...stored.lanes.values()].flatMap(({ positions }) => positions);
    assert.equal(new Set(parked).size, parked.length, 'parked twice');
    assert.equal(lanes.parked(), parked.length);
    for (const { position, filingId } of log) {
      const waits = parked.includes(position);
      const over = stored.ended.has(position) || filingId === '-';
      assert(!passed.isDone(position) || waits || over, 'passed over');
      assert(!(waits && over), 'waits though it is over');
    }
  }

  function beginReplay(): void {
    const first = { cursor: createCursor(0, ''), lanes: new Lanes(new Map(), 0) };
    replay ??= scheduler.startReplay('rpl', first);
    const upTo = Math.min(cursor.position(), replayTo + 6);
    for (const entry of log.slice(replayTo, upTo)) replay.accept(entry, ended.has(entry.position));
    replayTo = Math.max(replayTo, upTo);
  }

  function take(step: Step): void {
    now += 1;
    switch (step.do) {
      case 'read':
        return scheduler.live.hasRoom() ? read(step.count) : undefined;
      case 'start':
        return start();
      case 'settle':
        return settle(step.which, step.outcome);
      case 'write':
        return write();
      case 'wait':
        now += step.ms;
        return;
      case 'crash':
        return begin();
      case 'release':
        return scheduler.retryNow(now);
      case 'replay':
        return beginReplay();
    }
  }

  begin();
  return {
    take,
    finish() {
      write();
      const isDone = () => stored.cursor === log.length && stored.lanes.size === 0;
      for (let round = 0; round < 300 && !isDone(); round += 1) {
        now += 400_000;
        read(log.length);
        start();
        while (inFlight.size > settled.length) settle(0, { kind: 'delivered', code: 'delivered' });
        write();
      }
      for (const { position, filingId } of log) assert(ended.has(position) || filingId === '-', 'lost');
      return { cursor: stored.cursor, done: stored.done, lanes: stored.lanes.size };
    },
  };
}

/** Judges a result and puts the verdict into effect. */
export function judge(scheduler: SendScheduler, work: Work, outcome: CallbackOutcome, now: number): Verdict {
  const situation = { health: scheduler.health(), lane: scheduler.laneOf(work) };
  const verdict = verdictOn(work, outcome, situation, scheduler.verdictRules(), now);
  scheduler.settle(work, verdict, now);
  return verdict;
}

function toEntry(filingId: string, i: number): LogEntry {
  const position = i + 1;
  return {
    position,
    id: `evt_${position}`,
    type: 't',
    filingId,
    state: '',
    status: '',
    recordedAt: 0,
    timeline: '',
    bytes: 0,
    body: Buffer.alloc(0),
  };
}
