import { describe, expect, it } from 'vitest';
import type { CallbackOutcome } from '../../../../src/callbacks/outcome.ts';
import {
  disablingReason,
  healthAfter,
  healthyAgain,
  isDown,
  pauseAt,
  type EndpointHealth,
} from '../../../../src/delivery/schedule/endpoint-health.ts';

const delivered: CallbackOutcome = { kind: 'delivered', code: 'delivered' };
const retry: CallbackOutcome = { kind: 'retry', code: 'http_error', sent: true, reason: '' };
const unsent: CallbackOutcome = { kind: 'retry', code: 'connection_refused', sent: false, reason: '' };
const senderError: CallbackOutcome = { kind: 'retry', code: 'sender_error', sent: false, reason: '' };
const gone: CallbackOutcome = { kind: 'gone', code: 'gone', reason: '' };
const slowDown: CallbackOutcome = { kind: 'slow_down', code: 'slow_down', retryAfterMs: 60_000, reason: '' };
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
const rules = { retryMs: [5_000], random: () => 1 };

function after(
  start: EndpointHealth,
  ...attempts: [CallbackOutcome, string, number, boolean?][]
): EndpointHealth {
  return attempts.reduce(
    (health, [outcome, filingId, now, probe = false]) =>
      healthAfter(health, { outcome, filingId, probe, startedAt: now - 1, eventAtFault: false }, now, rules),
    start,
  );
}

const down = after(healthy, [retry, 'a', 1_000], [retry, 'b', 1_001], [retry, 'c', 1_002]);

describe('the health of an endpoint', () => {
  it('goes down when three filings fail in a row, and not for one filing however often', () => {
    const poison = after(
      healthy,
      ...Array.from({ length: 20 }, (_, i) => [retry, 'a', i + 1] as [CallbackOutcome, string, number]),
    );
    expect([isDown(poison), poison.failures, poison.failingSince]).toEqual([false, 20, 1]);
    expect(isDown(after(healthy, [retry, 'a', 1], [retry, 'b', 2], [retry, 'a', 3]))).toBe(false);
    expect(down).toMatchObject({ probes: 1, pausedUntil: 6_002, failingSince: 1_000, failures: 3 });
    expect(
      isDown(after(healthy, [retry, 'a', 1], [retry, 'b', 2], [delivered, 'x', 3], [retry, 'c', 4])),
    ).toBe(false);
  });

  it('pauses twice as long after each probe in vain, up to five minutes', () => {
    let health = down;
    const pauses = Array.from({ length: 9 }, () => {
      const now = health.pausedUntil;
      health = after(health, [retry, 'a', now, true]);
      return health.pausedUntil - now;
    });
    expect(pauses).toEqual([10_000, 20_000, 40_000, 80_000, 160_000, 300_000, 300_000, 300_000, 300_000]);
  });

  it('spreads probes by shortening them up to a fifth', () => {
    const evidence = { outcome: retry, filingId: 'a', probe: true, startedAt: 9_999, eventAtFault: false };
    const one = healthAfter(down, evidence, 10_000, { ...rules, random: () => 0.001 });
    expect(one.pausedUntil).toBe(10_000 + 8_002);
  });

  it('goes down at the second failure in a row if nothing could be sent, whatever filing it was about', () => {
    const once = after(healthy, [unsent, 'a', 1]);
    expect([isDown(once), isDown(after(once, [unsent, 'a', 2]))]).toEqual([false, true]);
    expect(isDown(after(once, [delivered, 'b', 2], [unsent, 'a', 3]))).toBe(false);
  });

  it('does not go down for events that are known to fail while it works', () => {
    const eventAtFault = { outcome: retry, probe: false, startedAt: 0, eventAtFault: true };
    const health = ['a', 'b', 'c', 'd'].reduce(
      (former, filingId) => healthAfter(former, { ...eventAtFault, filingId }, 1, rules),
      healthy,
    );
    expect([isDown(health), health.failures, health.failedFilings]).toEqual([false, 4, []]);
    const unreachable = { ...eventAtFault, outcome: unsent, filingId: 'a' };
    expect(isDown(healthAfter(health, unreachable, 2, rules))).toBe(true);
  });

  it('does not count stragglers that fail while it is down', () => {
    const later = after(down, [retry, 'd', 1_100], [retry, 'e', 1_200]);
    expect(later).toMatchObject({ probes: 1, pausedUntil: down.pausedUntil, failures: 5 });
  });

  it('is well again after one success', () => {
    expect(after(down, [delivered, 'a', 6_010, true])).toEqual({
      ...healthy,
      lastSuccessAt: 6_010,
      workedAt: 6_009,
    });
  });

  it('rests for as long as Retry-After says, never shorter for a second answer, and whatever succeeds meanwhile', () => {
    const asked = after(healthy, [slowDown, 'a', 1_000]);
    expect(asked).toMatchObject({ pausedUntil: 61_000, probes: 0 });
    const shorter: CallbackOutcome = { ...slowDown, retryAfterMs: 1_000 };
    expect(after(asked, [shorter, 'b', 1_001]).pausedUntil).toBe(61_000);
    const succeeded = after(asked, [delivered, 'c', 1_002]);
    expect(succeeded).toMatchObject({
      pausedUntil: 61_000,
      failures: 0,
      failingSince: 0,
      lastSuccessAt: 1_002,
    });
    expect(after(asked, [delivered, 'c', 61_000]).pausedUntil).toBe(0);
  });

  it('is forgotten by a release, the last success excepted', () => {
    expect(healthyAgain({ ...down, lastSuccessAt: 9, workedAt: 8 })).toEqual({
      ...healthy,
      lastSuccessAt: 9,
    });
  });
});

describe('disabling', () => {
  const failing = { ...healthy, failures: 4, failingSince: 1_000 };

  it.each([
    { outcomes: [delivered, gone], health: healthy, now: 1, reason: 'the endpoint answered 410 Gone' },
    { outcomes: [retry], health: failing, now: 10_999, reason: null },
    {
      outcomes: [retry],
      health: failing,
      now: 11_000,
      reason: 'no callback has succeeded since 1970-01-01T00:00:01.000Z',
    },
    { outcomes: [], health: failing, now: 99_000, reason: null },
    { outcomes: [senderError], health: failing, now: 99_000, reason: null },
    { outcomes: [delivered], health: healthy, now: 99_000, reason: null },
  ])('of $outcomes.length outcomes at $now: $reason', ({ outcomes, health, now, reason }) => {
    expect(disablingReason(outcomes, health, now, 10_000)).toBe(reason);
  });
});

describe('a pause', () => {
  const hour = 3_600_000;
  it.each([
    [0, 'none'],
    [1_000, 'none'],
    [1_001, 'pausing'],
    [1_000 + hour, 'pausing'],
    [1_000 + 2 * hour, 'impossible'],
  ])('until %d is, at 1000, %s', (pausedUntil, expected) => {
    expect(pauseAt({ pausedUntil }, 1_000)).toBe(expected);
  });
});
