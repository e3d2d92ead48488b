import { describe, expect, it } from 'vitest';
import type { CallbackOutcome } from '../../../../src/callbacks/outcome.ts';
import type { EndpointHealth } from '../../../../src/delivery/schedule/endpoint-health.ts';
import { newLane, type Lane } from '../../../../src/delivery/schedule/lanes.ts';
import type { Fate, Work } from '../../../../src/delivery/schedule/track.ts';
import { nextAttemptAfter, verdictOn } from '../../../../src/delivery/schedule/verdict.ts';

const outcomes = {
  delivered: { kind: 'delivered', code: 'delivered' },
  failed: { kind: 'retry', code: 'http_error', sent: true, reason: '' },
  refused: { kind: 'retry', code: 'connection_refused', sent: false, reason: '' },
  refusedForGood: { kind: 'refused', code: 'mail_refused', reason: '' },
  gone: { kind: 'gone', code: 'gone', reason: '' },
  slow: { kind: 'slow_down', code: 'slow_down', retryAfterMs: 5_000, reason: '' },
  held: { kind: 'held', code: 'proxy_error', retryAfterMs: 700, reason: '' },
  aborted: { kind: 'aborted', code: 'aborted', reason: '' },
} as const satisfies Record<string, CallbackOutcome>;

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
const down: EndpointHealth = { ...healthy, failures: 3, failedFilings: ['a', 'b', 'c'], probes: 1 };
const rules = { retryMs: [100, 200], random: () => 0.5, round: 2 };
const work: Work = {
  position: 7,
  entry: null,
  filingId: 'a',
  attempt: 1,
  replay: null,
  probe: false,
  startedAt: 900,
  round: 2,
};
const retried: Lane = { ...newLane([7, 8], 0), spent: 1, tried: 1, dueAt: 800, decidedAt: 700 };
const now = 1_000;

describe('a verdict', () => {
  interface Case {
    readonly title: string;
    readonly outcome: keyof typeof outcomes;
    readonly lane?: Lane;
    readonly health?: EndpointHealth;
    readonly round?: number;
    readonly fate: Fate;
    readonly next: number | null;
  }
  const wait = { charged: false, eventAtFault: false };
  const cases: readonly Case[] = [
    { title: 'a delivery', outcome: 'delivered', fate: 'done', next: null },
    { title: 'a refusal that is final', outcome: 'refusedForGood', fate: 'given_up', next: null },
    {
      title: 'a refusal that is final by an endpoint that is down',
      outcome: 'refusedForGood',
      health: down,
      fate: 'given_up',
      next: null,
    },
    {
      title: 'the first failure',
      outcome: 'failed',
      fate: { ...wait, dueAt: 1_100, charged: true },
      next: 1_100,
    },
    {
      title: 'the second failure',
      outcome: 'failed',
      lane: retried,
      fate: { ...wait, dueAt: 1_200, charged: true },
      next: 1_200,
    },
    {
      title: 'a failure after the last retry',
      outcome: 'failed',
      lane: { ...retried, spent: 2 },
      fate: 'given_up',
      next: null,
    },
    {
      title: 'a failure though the endpoint has worked since the one before',
      outcome: 'failed',
      lane: retried,
      health: { ...healthy, workedAt: 701 },
      fate: { dueAt: 1_200, charged: true, eventAtFault: true },
      next: 1_200,
    },
    { title: 'nothing sent', outcome: 'refused', fate: { ...wait, dueAt: 1_100 }, next: 1_100 },
    {
      title: 'a failure of a down endpoint',
      outcome: 'failed',
      health: down,
      fate: { ...wait, dueAt: 1_100 },
      next: 1_100,
    },
    { title: '410', outcome: 'gone', fate: { ...wait, dueAt: now }, next: now },
    { title: 'Retry-After', outcome: 'slow', fate: { ...wait, dueAt: 6_000 }, next: 6_000 },
    {
      title: 'a failure that was sent before everything was made due',
      outcome: 'failed',
      round: 1,
      fate: { ...wait, dueAt: now },
      next: now,
    },
    {
      title: 'a failure during a pause that another callback has begun',
      outcome: 'failed',
      health: { ...healthy, pausedUntil: 9_000 },
      fate: { ...wait, dueAt: 1_100, charged: true },
      next: 9_000,
    },
    { title: 'an aborted first try', outcome: 'aborted', fate: 'undone', next: null },
    { title: 'an aborted retry', outcome: 'aborted', lane: retried, fate: 'undone', next: 800 },
  ];

  it.each(cases)(
    'on $title says what becomes of the event',
    ({ outcome, lane, health, round, fate, next }) => {
      const event = { ...work, round: round ?? work.round };
      const verdict = verdictOn(event, outcomes[outcome], { health: health ?? healthy, lane }, rules, now);
      expect(verdict.fate).toEqual(fate);
      expect(nextAttemptAfter(verdict, event, lane)).toBe(next);
    },
  );

  it('counts for or against the endpoint unless everything was made due since, or the attempt was aborted', () => {
    const situation = { health: healthy, lane: undefined };
    const judge = (outcome: CallbackOutcome, round = 2) =>
      verdictOn({ ...work, round }, outcome, situation, rules, now);
    expect(judge(outcomes.failed)).toMatchObject({
      judged: true,
      health: { failures: 1, failedFilings: ['a'] },
    });
    expect(judge(outcomes.failed, 1)).toMatchObject({ judged: false, health: healthy });
    expect(judge(outcomes.aborted)).toMatchObject({ judged: false, health: healthy });
  });

  it('of a delivery has the filings tried again that failed before it, and all of them when the endpoint was down', () => {
    const after = (health: EndpointHealth, round = 2) =>
      verdictOn({ ...work, round }, outcomes.delivered, { health, lane: undefined }, rules, now).retryNow;
    expect(after(healthy)).toEqual([]);
    expect(after({ ...down, probes: 0 })).toEqual(['a', 'b', 'c']);
    expect(after(down)).toBe('all');
    expect(after(down, 1)).toEqual([]);
  });
});
