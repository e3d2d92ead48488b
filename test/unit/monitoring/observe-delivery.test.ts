import { pino } from 'pino';
import { beforeEach, expect, test } from 'vitest';
import type { CallbackOutcome } from '../../../src/callbacks/outcome.ts';
import type { AttemptReport } from '../../../src/delivery/settlement.ts';
import type { Subscription } from '../../../src/subscriptions/subscription.ts';
import { createMetrics } from '../../../src/monitoring/metrics.ts';
import { observeDelivery } from '../../../src/monitoring/observe-delivery.ts';

const metrics = createMetrics();
const lines: Record<string, unknown>[] = [];
const calls: string[] = [];
const observer = observeDelivery({
  logger: pino(
    { base: null, timestamp: false },
    { write: (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
  ),
  metrics,
  tracing: {
    async run(account, run) {
      calls.push(`span of ${account}`);
      return run();
    },
    attemptReported: ({ attempt }) => void calls.push(`traced ${attempt.outcome}`),
  },
  tally: { gotOn: () => void calls.push('got on') },
  attemptsMax: 3,
});
beforeEach(() => {
  lines.length = 0;
  calls.length = 0;
  metrics.registry.resetMetrics();
});

const at = Date.UTC(2026, 10, 21, 12);
const subscription: Subscription = {
  id: 'sub_1',
  account: 'acme',
  url: 'https://hooks.example/secret-path',
  eventTypes: ['filing.*'],
  states: null,
  description: null,
  headers: {},
  format: 'standard',
  payload: 'full',
  secrets: [],
  createdAt: 0,
  updatedAt: 0,
};

function attempted(outcome: CallbackOutcome, next: Partial<AttemptReport> = {}): AttemptReport {
  const [statusCode, durationMs, response] = [outcome.kind === 'delivered' ? 200 : 500, 12, 'no'];
  return {
    subscription,
    entry: {
      position: 7,
      id: 'evt_1',
      type: 'filing.paid',
      filingId: 'f',
      state: 'TX',
      status: '',
      recordedAt: at - 2_000,
      timeline: '',
      bytes: 2,
      body: Buffer.from('{}'),
    },
    attempt: {
      eventId: 'evt_1',
      eventType: 'filing.paid',
      filingId: 'f',
      attempt: 2,
      outcome: outcome.code,
      statusCode,
      durationMs,
      response,
      at,
      replay: null,
    },
    sent: {
      outcome,
      statusCode,
      durationMs,
      response,
      request: null,
      responseHeaders: null,
      traceparent: null,
    },
    deadLetter: false,
    nextAttemptAt: null,
    ...next,
  };
}

const failed: CallbackOutcome = {
  kind: 'retry',
  code: 'http_error',
  sent: true,
  reason: 'The receiver answered 500.',
};
const common = {
  account: 'acme',
  subscription: 'sub_1',
  event: 'evt_1',
  type: 'filing.paid',
  filing: 'f',
  attempt: 2,
  durationMs: 12,
};
const [info, warn, error] = [30, 40, 50];

async function valueOf(name: string, labels = ''): Promise<number> {
  const text = await metrics.registry.getSingleMetricAsString(`filing_webhooks_${name}`);
  const line = text.split('\n').find((each) => each.startsWith(`filing_webhooks_${name}${labels} `));
  return Number(line?.split(' ').at(-1));
}

test('an acknowledged attempt is one line, a count, its durations and a span', async () => {
  observer.onAttempts([attempted({ kind: 'delivered', code: 'delivered' })]);
  const next = { attemptsMax: 3, nextAttemptAt: null, deadLetter: false };
  expect(lines).toEqual([
    { level: info, ...common, outcome: 'delivered', statusCode: 200, ...next, msg: 'delivery.delivered' },
  ]);
  expect(calls).toEqual(['got on', 'traced delivered']);
  expect(await valueOf('deliveries_total', '{outcome="delivered"}')).toBe(1);
  const text = await metrics.registry.getSingleMetricAsString('filing_webhooks_detect_to_delivery_seconds');
  expect(text).toContain('filing_webhooks_detect_to_delivery_seconds_sum 2\n');
});

test('a failed attempt says how many there are and when the next one is', () => {
  observer.onAttempts([attempted(failed, { nextAttemptAt: at + 60_000 })]);
  const next = { attemptsMax: 3, nextAttemptAt: '2026-11-21T12:01:00.000Z', deadLetter: false };
  const { reason } = failed;
  expect(lines).toEqual([
    {
      level: warn,
      ...common,
      outcome: 'http_error',
      statusCode: 500,
      ...next,
      reason,
      msg: 'delivery.failed',
    },
  ]);
});

test('the last one is also a line about a dead letter, and counts as one', async () => {
  observer.onAttempts([attempted(failed, { deadLetter: true })]);
  expect(lines.map(({ msg, deadLetter, nextAttemptAt }) => [msg, deadLetter, nextAttemptAt])).toEqual([
    ['delivery.failed', true, null],
    ['delivery.given_up', undefined, undefined],
  ]);
  expect(await valueOf('dead_letters_total')).toBe(1);
});

test('one that the end of the process cut off is no failure', () => {
  observer.onAttempts([attempted({ kind: 'aborted', code: 'aborted', reason: 'stopped' })]);
  expect(lines).toMatchObject([{ level: info, msg: 'delivery.aborted' }]);
  expect(lines[0]).not.toHaveProperty('nextAttemptAt');
});

test('what happens to a subscription is a line, and an event where one was appended', async () => {
  observer.onBlocked('acme', 'sub_1', { reason: 'no key', since: at, times: 2, nextAt: at });
  observer.onExpired(subscription, 5);
  observer.onDisabled(subscription, 'the endpoint answered 410 Gone');
  expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
    [error, 'delivery.blocked'],
    [warn, 'delivery.expired'],
    [warn, 'subscription.disabled'],
  ]);
  expect(lines[0]).toMatchObject({ nextAt: '2026-11-21T12:00:00.000Z', times: 2, reason: 'no key' });
  expect(await valueOf('dead_letters_total')).toBe(5);
  expect(await valueOf('events_total', '{type="subscription.fell_behind"}')).toBe(1);
  expect(await valueOf('events_total', '{type="subscription.disabled"}')).toBe(1);
});

test('a run of a deliverer is within its span and gives what it gave', async () => {
  const run = observer.traced(async () => ({ wakeAt: 4 }));
  expect(await run('acme', new AbortController().signal)).toEqual({ wakeAt: 4 });
  expect(calls).toEqual(['span of acme']);
});
