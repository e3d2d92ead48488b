import { describe, expect, it } from 'vitest';
import type { CallbackOutcome } from '../../../src/callbacks/outcome.ts';
import {
  concludeBatch,
  operationalNotices,
  type BatchState,
  type SendResult,
} from '../../../src/delivery/settlement.ts';
import { newLane, type Lane } from '../../../src/delivery/schedule/lanes.ts';
import type { Work } from '../../../src/delivery/schedule/track.ts';
import { toExpiredLetter } from '../../../src/delivery/store/delivery-records.ts';
import type { LogEntry } from '../../../src/events/event-log.ts';
import type { Subscription } from '../../../src/subscriptions/subscription.ts';

const now = 1_000_000;
const delivered: CallbackOutcome = { kind: 'delivered', code: 'delivered' };
const failed: CallbackOutcome = { kind: 'retry', code: 'http_error', sent: true, reason: '' };
const gone: CallbackOutcome = { kind: 'gone', code: 'gone', reason: '' };
const aborted: CallbackOutcome = { kind: 'aborted', code: 'aborted', reason: '' };
const exhausted: Lane = { ...newLane([1], 0), spent: 1, tried: 1 };
const subscription: Subscription = {
  id: 'sub_1',
  account: 'acme',
  url: 'https://receiver.example/hooks?key=secret',
  eventTypes: ['*'],
  states: null,
  description: null,
  headers: {},
  format: 'standard',
  payload: 'full',
  secrets: [],
  createdAt: 0,
  updatedAt: 0,
};

function workOf(filingId: string, rest: Partial<Work> = {}): Work {
  const first = { position: filingId.charCodeAt(0), entry: null, attempt: 1, probe: false };
  return { ...first, filingId, replay: null, startedAt: now - 10, round: 0, ...rest };
}

function sent(filingId: string, outcome: CallbackOutcome, rest: Partial<Work> = {}): SendResult {
  const work = workOf(filingId, rest);
  const { position } = work;
  const entry: LogEntry = {
    position,
    id: `evt_${filingId}`,
    type: 't',
    filingId,
    state: '',
    status: '',
    recordedAt: 0,
    timeline: '',
    bytes: 0,
    body: Buffer.alloc(0),
  };
  const nothing = {
    statusCode: null,
    response: null,
    request: null,
    responseHeaders: null,
    traceparent: null,
  };
  const answer = { outcome, durationMs: 10, ...nothing };
  const letter = work.replay === null ? undefined : `letter ${position}`;
  return { kind: 'sent', work, entry, subscription, sent: answer, letter };
}

function stateOf(lanes: Record<string, Lane> = {}, rest: Partial<BatchState> = {}): BatchState {
  return {
    health: {
      failures: 0,
      failedFilings: [],
      failingSince: 0,
      lastSuccessAt: 0,
      workedAt: 0,
      pausedUntil: 0,
      probes: 0,
      obstacle: '',
    },
    rules: { retryMs: [100], random: () => 0.5, round: 0 },
    laneOf: ({ filingId }) => lanes[filingId],
    replay: null,
    disableAfterMs: 86_400_000,
    ...rest,
  };
}

describe('the conclusion of a batch', () => {
  const ofReplay = { replay: 'rpl_1' };
  interface Case {
    readonly title: string;
    readonly result: SendResult;
    readonly state?: BatchState;
    readonly attempts: readonly string[];
    readonly deadLetters?: readonly string[];
    readonly recovered?: readonly string[];
    readonly replayed?: { readonly delivered: number; readonly failed: number };
    readonly disabled?: string;
  }
  const cases: readonly Case[] = [
    { title: 'a delivery', result: sent('a', delivered), attempts: ['delivered'] },
    { title: 'a failure', result: sent('a', failed), attempts: ['http_error'] },
    {
      title: 'a failure after the last retry',
      result: sent('a', failed),
      state: stateOf({ a: exhausted }),
      attempts: ['http_error'],
      deadLetters: ['http_error'],
    },
    { title: 'an aborted attempt', result: sent('a', aborted), attempts: ['aborted'] },
    {
      title: '410',
      result: sent('a', gone),
      attempts: ['gone'],
      disabled: 'the endpoint answered 410 Gone',
    },
    {
      title: 'a delivery by a replay',
      result: sent('a', delivered, ofReplay),
      state: stateOf({}, ofReplay),
      attempts: ['delivered'],
      recovered: ['letter 97'],
      replayed: { delivered: 1, failed: 0 },
    },
    {
      title: 'a failure of a replay after the last retry',
      result: sent('a', failed, ofReplay),
      state: stateOf({ a: exhausted }, ofReplay),
      attempts: ['http_error'],
      replayed: { delivered: 0, failed: 1 },
    },
    {
      title: 'an event that was trimmed away',
      result: { kind: 'expired', work: workOf('a') },
      attempts: [],
      deadLetters: ['expired'],
    },
    {
      title: 'an event of a replay that was trimmed away',
      result: { kind: 'expired', work: workOf('a', ofReplay) },
      state: stateOf({}, ofReplay),
      attempts: [],
    },
    { title: 'an event no longer wanted', result: { kind: 'unwanted', work: workOf('a') }, attempts: [] },
  ];

  it.each(cases)('of $title', ({ result, state = stateOf(), attempts, ...expected }) => {
    const {
      deadLetters = [],
      recovered = [],
      replayed = { delivered: 0, failed: 0 },
      disabled = null,
    } = expected;
    const concluded = concludeBatch([result], state, now);
    expect(concluded.reports.map(({ attempt }) => attempt.outcome)).toEqual(attempts);
    expect(concluded.deadLetters.map(({ lastOutcome }) => lastOutcome)).toEqual(deadLetters);
    expect(concluded.recovered).toEqual(recovered);
    expect(concluded.disablingReason).toBe(disabled);
    expect(concluded.replayed).toEqual(replayed);
    expect(concluded.verdicts.map(({ work }) => work)).toEqual([result.work]);
    expect(concluded.reports.map(({ attempt, deadLetter }) => [attempt.outcome, deadLetter])).toEqual(
      attempts.map((outcome) => [outcome, deadLetters.length > 0]),
    );
  });

  it('judges each result in the light of those before it', () => {
    const batch = [sent('a', failed), sent('b', failed), sent('c', failed), sent('d', failed)];
    const failing = concludeBatch(batch, stateOf(), now);
    // The third filing that fails brings the endpoint down: from then on no retry is charged.
    expect(failing.verdicts.map(({ verdict: { fate } }) => typeof fate === 'object' && fate.charged)).toEqual(
      [true, true, false, false],
    );
    expect(failing.health).toMatchObject({ failures: 4, failedFilings: ['a', 'b', 'c'], probes: 1 });
    const worked = concludeBatch([...batch, sent('e', delivered)], stateOf(), now);
    expect(worked.verdicts.at(-1)?.verdict.retryNow).toBe('all');
    expect(worked.health).toMatchObject({ failures: 0, probes: 0, lastSuccessAt: now });
  });

  it('announces no further attempt where the subscription is disabled', () => {
    const state = stateOf();
    const nextAttempts = (batch: readonly SendResult[]) =>
      concludeBatch(batch, state, now).reports.map(({ nextAttemptAt }) => nextAttemptAt);
    expect(nextAttempts([sent('a', failed), sent('b', delivered)])).toEqual([now + 100, null]);
    expect(nextAttempts([sent('a', failed), sent('b', gone)])).toEqual([null, null]);
  });

  it('changes nothing of what it is given', () => {
    const lanes = { a: exhausted };
    const state = stateOf(lanes);
    const before = structuredClone([lanes, state.health, state.rules.retryMs]);
    concludeBatch([sent('a', failed), sent('b', delivered)], state, now);
    expect([lanes, state.health, state.rules.retryMs]).toEqual(before);
  });
});

describe('operational notices', () => {
  it('are appended where events were lost to retention, and where the subscription is disabled', () => {
    const lost = [
      toExpiredLetter({ position: 9, filingId: '', attempts: 0 }, 4, now),
      toExpiredLetter({ position: 12, filingId: 'a', attempts: 1 }, 1, now),
    ];
    const { announced, disabling } = operationalNotices(subscription, 3, lost, 'why', now);
    expect(announced?.event.type).toBe('subscription.fell_behind');
    expect(announced?.event.body.toString()).toContain('"events":5');
    expect([disabling?.event.type, disabling?.reason]).toEqual(['subscription.disabled', 'why']);
    expect(operationalNotices(subscription, 3, [], null, now)).toEqual({ announced: null, disabling: null });
  });
});
