import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSubscriptionWindows, type Places } from '../../../../src/delivery/window/places.ts';

/** A drain with more to send than it may: counts what is in flight. */
function createDrain(places: Places) {
  let inFlight = 0;
  return {
    inFlight: () => inFlight,
    /** Sends as many as it may; returns how many. */
    send(now: number): number {
      const before = inFlight;
      while (places.isFree(inFlight, inFlight === 0 ? null : now, now)) {
        places.take(inFlight);
        inFlight += 1;
      }
      return inFlight - before;
    },
    /** So many in flight are answered, sent at a time. */
    answer(count: number, kind: 'accepted' | 'failed', now: number): void {
      const latencyMs = 20;
      places.answered(
        Array.from({ length: count }, () => ({ kind, startedAt: now - latencyMs, latencyMs })),
        now,
      );
      for (let i = 0; i < count; i += 1) {
        places.giveBack(inFlight);
        inFlight -= 1;
      }
    },
  };
}

/** Lets a drain grow to its maximum by steady answers; returns the time then. */
function grow(drain: ReturnType<typeof createDrain>, from: number): number {
  let now = from;
  for (let round = 0; round < 15; round += 1) {
    drain.send(now);
    now += 20;
    drain.answer(drain.inFlight(), 'accepted', now);
  }
  return now;
}

describe('the places of a drain', () => {
  it('are ten at first, and as many as its maximum once the endpoint has answered well', () => {
    const drain = createDrain(createSubscriptionWindows(64, () => false).open('a', 'sub', 0));
    expect(drain.send(0)).toBe(10);
    const now = grow(drain, 0);
    expect(drain.send(now)).toBe(64);
  });

  it('are ten for the next drain until it has answers of its own, and then soon as many as before', () => {
    const windows = createSubscriptionWindows(64, () => false);
    const first = createDrain(windows.open('a', 'sub', 0));
    const now = grow(first, 0);
    const next = createDrain(windows.open('a', 'sub', now));
    expect(next.send(now)).toBe(10);
    next.answer(10, 'accepted', now + 20);
    expect(next.send(now + 20)).toBe(30);
    const other = createDrain(windows.open('a', 'another', now));
    other.send(now);
    other.answer(10, 'accepted', now + 20);
    expect(other.send(now + 20)).toBeLessThan(20);
  });

  it('are those of a new endpoint once the URL changes', () => {
    const places = createSubscriptionWindows(64, () => false).open('a', 'sub', 0);
    places.sendTo({ url: 'https://one.example' }, 0);
    grow(createDrain(places), 0);
    expect(places.limit()).toBe(64);
    places.sendTo({ url: 'https://one.example' }, 400);
    expect(places.limit()).toBe(64);
    places.sendTo({ url: 'https://two.example' }, 400);
    expect(places.limit()).toBe(10);
  });

  it('beyond ten are bounded for all subscriptions of a process, and come back when drains end', () => {
    const windows = createSubscriptionWindows(1_000, () => false);
    const opened = Array.from({ length: 5 }, (_, i) => windows.open('a', `sub${i}`, 0));
    const drains = opened.map(createDrain);
    for (const drain of drains) {
      const now = grow(drain, 0);
      drain.send(now);
    }
    const total = () => drains.reduce((sum, drain) => sum + drain.inFlight(), 0);
    expect(total()).toBe(2_000 + 5 * 10);
    for (const places of opened) places.close();
    const late = createDrain(windows.open('a', 'late', 0));
    const now = grow(late, 0);
    expect(late.send(now)).toBeGreaterThan(100);
  });

  it('beyond ten are never more than two for each answer, and none without one', () => {
    const steps = fc.array(fc.record({ share: fc.nat(100), fails: fc.nat(5), ms: fc.nat(200) }), {
      maxLength: 100,
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), steps, (max, all) => {
        const drain = createDrain(createSubscriptionWindows(max, () => false).open('a', 'sub', 0));
        let now = 0;
        for (const { share, fails, ms } of all) {
          const before = drain.inFlight();
          drain.send(now);
          const sent = drain.inFlight();
          expect(sent).toBeLessThanOrEqual(max);
          // Nothing has been answered since: whatever hangs gets no more.
          expect(drain.send(now)).toBe(0);
          expect(before >= 10 && now === 0 ? sent : before).toBe(before);
          now += ms;
          const answered = Math.floor((sent * share) / 100);
          const left = sent - answered;
          drain.answer(answered, fails === 0 ? 'failed' : 'accepted', now);
          const paid = fails === 0 ? 0 : 2 * answered;
          const next = drain.send(now);
          expect(left + next).toBeLessThanOrEqual(Math.max(left, 10) + paid);
        }
      }),
    );
  });
});
