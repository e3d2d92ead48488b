import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  limitAt,
  newWindow,
  windowAfter,
  windowAfterRest,
  windowRules,
  type Answer,
  type Window,
} from '../../../../src/delivery/schedule/window.ts';

const rules = windowRules(64);
const accepted = (startedAt: number, latencyMs: number): Answer => ({
  kind: 'accepted',
  startedAt,
  latencyMs,
});

/** Answers of as many rounds, each of a full window, by an endpoint with this latency for so many in flight. */
function afterRounds(
  window: Window,
  rounds: number,
  latencyOf: (inFlight: number) => number,
  from = 0,
  busy = false,
): Window {
  let now = from;
  let after = window;
  for (let round = 0; round < rounds; round += 1) {
    const limit = limitAt(after, null, now, rules);
    const latencyMs = latencyOf(limit);
    const answers = Array.from({ length: limit }, () => accepted(now, latencyMs));
    now += latencyMs;
    after = windowAfter(after, answers, { limited: true, busy }, now, rules);
  }
  return after;
}

const idle = { limited: false, busy: false };
const waiting = { limited: true, busy: false };
const steady = () => 200;
const grown = afterRounds(newWindow(rules, 0), 8, steady);

describe('the window of an endpoint', () => {
  it('begins with ten, and grows to its maximum within six rounds of steady answers', () => {
    expect(newWindow(rules, 0).limit).toBe(10);
    expect(afterRounds(newWindow(rules, 0), 6, steady).limit).toBe(64);
  });

  it('begins with a maximum that is below ten', () => {
    expect(newWindow(windowRules(4), 0).limit).toBe(4);
  });

  it('does not grow while nothing waits for a place', () => {
    const answers = Array.from({ length: 100 }, () => accepted(0, 200));
    expect(windowAfter(newWindow(rules, 0), answers, idle, 200, rules).limit).toBe(10);
  });

  it('does not grow while this process is busy and the endpoint is near, and does where it is away', () => {
    const after = (latencyMs: number) => afterRounds(newWindow(rules, 0), 10, () => latencyMs, 0, true).limit;
    expect(after(10)).toBe(10);
    expect(after(24)).toBe(10);
    expect(after(25)).toBe(64);
    expect(afterRounds(newWindow(rules, 0), 10, () => 10).limit).toBe(64);
  });

  it('stays near what an endpoint serves at once when the rest has to queue there', () => {
    const queueing = (inFlight: number) => 200 * Math.max(1, inFlight / 10);
    for (let rounds = 1; rounds < 60; rounds += 1)
      expect(afterRounds(newWindow(rules, 0), rounds, queueing).limit).toBeLessThanOrEqual(23);
  });

  it.each([
    ['failed', 32],
    ['timed_out', 10],
    ['overloaded', 5],
  ] as const)('falls at once after an answer that %s', (kind, limit) => {
    const answer = { kind, startedAt: 5_000, latencyMs: 200 };
    expect(windowAfter(grown, [answer], idle, 5_200, rules).limit).toBe(limit);
  });

  it('falls once for all failures of callbacks that were in flight together', () => {
    const failures = Array.from({ length: 30 }, () => ({
      kind: 'failed' as const,
      startedAt: 5_000,
      latencyMs: 200,
    }));
    const fallen = windowAfter(grown, failures, idle, 5_200, rules);
    expect(windowAfter(fallen, failures, idle, 5_300, rules).limit).toBe(32);
  });

  it('grows by one a round from where it fell', () => {
    const answer = { kind: 'failed', startedAt: 5_000, latencyMs: 200 } as const;
    const fallen = windowAfter(grown, [answer], idle, 5_200, rules);
    expect(afterRounds(fallen, 3, steady, 5_200).limit).toBe(35);
  });

  it('allows no more than ten while one hangs, and as many as before once it is answered', () => {
    expect(limitAt(grown, 5_000, 5_900, rules)).toBe(64);
    expect(limitAt(grown, 5_000, 6_100, rules)).toBe(10);
    expect(limitAt(grown, null, 6_100, rules)).toBe(64);
  });

  it('begins again with ten after five seconds without an answer', () => {
    expect(windowAfterRest(grown, 5_000, 9_000, rules).limit).toBe(64);
    expect(windowAfterRest(grown, 5_000, 10_001, rules).limit).toBe(10);
  });

  it('measures the latency anew with ten in flight, once a minute, and follows one that has changed for good', () => {
    const slower = () => 900;
    expect(afterRounds(grown, 30, slower, 5_000).limit).toBe(10);
    expect(afterRounds(grown, 250, slower, 5_000).limit).toBe(64);
    const later = windowAfter(grown, [accepted(61_000, 200)], waiting, 61_200, rules);
    expect(limitAt(later, null, 61_200, rules)).toBe(10);
    expect(afterRounds(later, 1, steady, 61_200).limit).toBe(64);
  });

  it('is never above its maximum nor below one, and falls at once, whatever the answers', () => {
    const kinds = fc.constantFrom('accepted', 'accepted', 'accepted', 'failed', 'overloaded', 'timed_out');
    const answer = fc.record({ kind: kinds, ageMs: fc.nat(20_000), latencyMs: fc.nat(20_000) });
    const step = fc.record({
      answers: fc.array(answer, { maxLength: 80 }),
      limited: fc.boolean(),
      busy: fc.boolean(),
      ms: fc.integer({ min: -1_000, max: 70_000 }),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), fc.array(step, { maxLength: 60 }), (max, steps) => {
        const bounds = windowRules(max);
        let window = newWindow(bounds, 0);
        let now = 0;
        for (const { answers, limited, busy, ms } of steps) {
          now += ms;
          const given = answers.map(({ ageMs, ...rest }) => ({ ...rest, startedAt: now - ageMs }));
          const counted = given.filter(
            ({ kind, startedAt }) => kind !== 'accepted' && startedAt >= window.since,
          );
          const former = window;
          window = windowAfter(former, given, { limited, busy }, now, bounds);
          expect(window.limit).toBeGreaterThanOrEqual(1);
          expect(window.limit).toBeLessThanOrEqual(max);
          expect(window.latencies.length).toBeLessThan(max);
          const rose = window.limit > former.limit;
          expect(rose && !limited && !former.limited).toBe(false);
          expect(limitAt(window, now - 60_001, now, bounds)).toBeLessThanOrEqual(10);
          const fails = counted.length > 0 && former.periodAt === window.periodAt;
          expect(fails && former.limit > 10 && window.limit >= former.limit).toBe(false);
        }
      }),
    );
  });
});
