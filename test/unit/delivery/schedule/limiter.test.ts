import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Limiter, SharedLimits } from '../../../../src/delivery/schedule/limiter.ts';

function open(limits: SharedLimits, id: string, now: number): Limiter {
  return new Limiter(limits, id, 0, now);
}

/** A run with more to send than it may: counts what is in flight. */
function createRun(limiter: Limiter) {
  const filings: string[] = [];
  let sent = 0;
  return {
    inFlight: () => limiter.inFlight(),
    /** Sends as many as it may; returns how many. */
    send(now: number): number {
      const before = limiter.inFlight();
      for (; limiter.isFree(now); sent += 1) {
        filings.push(`filing ${sent}`);
        limiter.started(`filing ${sent}`, now);
      }
      return limiter.inFlight() - before;
    },
    /** So many in flight are answered, sent at a time. */
    answer(count: number, kind: 'accepted' | 'failed', now: number): void {
      const latencyMs = 20;
      limiter.answered(
        Array.from({ length: count }, () => ({ kind, startedAt: now - latencyMs, latencyMs })),
        now,
      );
      for (const filing of filings.splice(0, count)) limiter.ended(filing);
    },
  };
}

/** Lets a run grow to its maximum by steady answers; returns the time then. */
function grow(run: ReturnType<typeof createRun>, from: number): number {
  let now = from;
  for (let round = 0; round < 15; round += 1) {
    run.send(now);
    now += 20;
    run.answer(run.inFlight(), 'accepted', now);
  }
  return now;
}

describe('the places of a subscription', () => {
  it('are ten at first, and as many as its maximum once the endpoint has answered well', () => {
    const run = createRun(open(new SharedLimits(64, () => false), 'sub', 0));
    expect(run.send(0)).toBe(10);
    const now = grow(run, 0);
    expect(run.send(now)).toBe(64);
  });

  it('are ten for the next run until it has answers of its own, and then soon as many as before', () => {
    const limits = new SharedLimits(64, () => false);
    const first = createRun(open(limits, 'sub', 0));
    const now = grow(first, 0);
    const next = createRun(open(limits, 'sub', now));
    expect(next.send(now)).toBe(10);
    next.answer(10, 'accepted', now + 20);
    expect(next.send(now + 20)).toBe(30);
    const other = createRun(open(limits, 'another', now));
    other.send(now);
    other.answer(10, 'accepted', now + 20);
    expect(other.send(now + 20)).toBeLessThan(20);
  });

  it('are those of a new endpoint once the URL changes', () => {
    const limiter = open(new SharedLimits(64, () => false), 'sub', 0);
    limiter.follow({ url: 'https://one.example' }, 0);
    grow(createRun(limiter), 0);
    expect(limiter.limit()).toBe(64);
    limiter.follow({ url: 'https://one.example' }, 400);
    expect(limiter.limit()).toBe(64);
    limiter.follow({ url: 'https://two.example' }, 400);
    expect(limiter.limit()).toBe(10);
  });

  it('beyond ten are bounded for all subscriptions of a process, and come back when they are closed', () => {
    const limits = new SharedLimits(1_000, () => false);
    const opened = Array.from({ length: 5 }, (_, i) => open(limits, `sub${i}`, 0));
    const runs = opened.map(createRun);
    for (const run of runs) {
      const now = grow(run, 0);
      run.send(now);
    }
    const total = () => runs.reduce((sum, run) => sum + run.inFlight(), 0);
    expect(total()).toBe(2_000 + 5 * 10);
    for (const limiter of opened) limiter.close();
    const late = createRun(open(limits, 'late', 0));
    const now = grow(late, 0);
    expect(late.send(now)).toBeGreaterThan(100);
  });

  it('beyond ten are never more than two for each answer, and none without one', () => {
    const steps = fc.array(fc.record({ share: fc.nat(100), fails: fc.nat(5), ms: fc.nat(200) }), {
      maxLength: 100,
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), steps, (max, all) => {
        const run = createRun(open(new SharedLimits(max, () => false), 'sub', 0));
        let now = 0;
        for (const { share, fails, ms } of all) {
          const before = run.inFlight();
          run.send(now);
          const sent = run.inFlight();
          expect(sent).toBeLessThanOrEqual(max);
          // Nothing has been answered since: whatever hangs gets no more.
          expect(run.send(now)).toBe(0);
          expect(before >= 10 && now === 0 ? sent : before).toBe(before);
          now += ms;
          const answered = Math.floor((sent * share) / 100);
          const left = sent - answered;
          run.answer(answered, fails === 0 ? 'failed' : 'accepted', now);
          const paid = fails === 0 ? 0 : 2 * answered;
          const next = run.send(now);
          expect(left + next).toBeLessThanOrEqual(Math.max(left, 10) + paid);
        }
      }),
    );
  });
});
