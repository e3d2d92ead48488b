import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { AttemptReport } from '../../../src/delivery/settlement.ts';
import type { PollReport } from '../../../src/polling/pollers.ts';
import { createOtlpTracing } from '../../../src/tracing/otlp-tracing.ts';
import type { Tracing } from '../../../src/tracing/tracing.ts';
import { startTraceCollector, type TraceCollector } from '../../support/receivers/trace-collector.ts';

let collector: TraceCollector;

beforeEach(async () => {
  collector = await startTraceCollector();
});

afterEach(() => collector[Symbol.asyncDispose]());

function createTracing(ratio = 1): Tracing {
  const settings = { url: `${collector.url}/v1/traces`, headers: {}, serviceName: 'test', ratio };
  return createOtlpTracing(settings, {
    version: '0.0.0-test',
    now: Date.now,
    onError(error) {
      throw error;
    },
  });
}

const ids = Array.from({ length: 200 }, (_, n) => {
  const digest = createHash('sha256').update(String(n)).digest('hex');
  return `evt_${digest.slice(0, 32)}`;
});

const recorded = (id: string) => ({
  id,
  position: 1,
  type: 'filing.paid',
  filingId: 'f_1',
  state: 'TX',
  status: '',
});

function attemptOf(eventId: string): AttemptReport {
  return {
    subscription: { account: 'a', id: 'sub_1', url: 'https://hooks.example.com/x' },
    attempt: {
      eventId,
      eventType: 'filing.paid',
      filingId: 'f_1',
      attempt: 1,
      outcome: 'delivered',
      statusCode: 200,
      durationMs: 5,
    },
    deadLetter: false,
    nextAttemptAt: null,
  } as AttemptReport;
}

function pollOf(outcome: PollReport['outcome']): PollReport {
  return { account: 'a', outcome, durationMs: 1, requests: 3 };
}

function traced(name: string): string[] {
  return collector.spans.filter((span) => span.name === name).map(({ traceId }) => `evt_${traceId}`);
}

test('a share of the traces is sent whole: processes that know nothing of each other choose the same events', async () => {
  const [poller, deliverer] = [createTracing(0.5), createTracing(0.5)];
  poller.eventsRecorded('a', ids.map(recorded));
  for (const id of ids) deliverer.attemptReported(attemptOf(id));
  await Promise.all([poller.close(), deliverer.close()]);
  expect(traced('detect').length).toBeGreaterThan(60);
  expect(traced('detect').length).toBeLessThan(140);
  expect(traced('callback').toSorted()).toEqual(traced('detect').toSorted());
});

describe('a poll', () => {
  test('that read nothing leaves no trace', async () => {
    const tracing = createTracing();
    expect(await tracing.poll('a', async () => false)).toBe(false);
    await tracing.close();
    expect(collector.spans).toEqual([]);
  });

  test('that the partner service failed says why, without its words', async () => {
    const tracing = createTracing();
    await tracing.poll('a', async () => {
      const reason = { reason: 'auth', message: 'The key k is refused' } as const;
      tracing.pollReported(pollOf({ kind: 'failed', ...reason, retryInMs: 1 }));
    });
    await tracing.close();
    expect(collector.spans).toMatchObject([
      {
        name: 'poll',
        failed: true,
        attributes: { 'error.type': 'auth', 'filing_webhooks.poll.outcome': 'failed' },
      },
    ]);
    expect(collector.text()).not.toContain('refused');
  });

  test('that breaks off keeps its error, as the delivery does, and shows it', async () => {
    const tracing = createTracing();
    const broken = new TypeError('with a secret');
    await expect(tracing.poll('a', () => Promise.reject(broken))).rejects.toBe(broken);
    await expect(tracing.run('a', () => Promise.reject(broken))).rejects.toBe(broken);
    await tracing.close();
    const attributes = { 'error.type': 'TypeError', 'filing_webhooks.account': 'a' };
    expect(collector.spans).toMatchObject([
      { name: 'poll', failed: true, attributes },
      { name: 'deliver', failed: true, attributes },
    ]);
    expect(collector.text()).not.toContain('with a secret');
  });

  test('of one account is not taken for that of another', async () => {
    const tracing = createTracing();
    const [a = '', b = ''] = ids;
    await tracing.poll('a', () =>
      tracing.poll('b', async () => {
        tracing.eventsRecorded('a', [recorded(a)]);
        tracing.eventsRecorded('b', [recorded(b)]);
        for (const account of ['a', 'b'])
          tracing.pollReported({
            ...pollOf({ kind: 'complete', mode: 'delta', events: 1, unread: 0 }),
            account,
          });
      }),
    );
    await tracing.close();
    const polls = collector.spans.filter(({ name }) => name === 'poll');
    expect(
      polls.map(({ attributes, links }) => [
        attributes['filing_webhooks.account'],
        `evt_${links[0]?.traceId}`,
      ]),
    ).toEqual([
      ['b', b],
      ['a', a],
    ]);
  });
});

test('an event without a poll or a drain under way is traced without a link', async () => {
  const tracing = createTracing();
  const [id = ''] = ids;
  tracing.eventsRecorded('a', [recorded(id)]);
  tracing.attemptReported(attemptOf(id));
  await tracing.close();
  expect(collector.spans).toMatchObject([
    { name: 'detect', links: [] },
    { name: 'callback', links: [], attributes: { 'server.address': 'hooks.example.com' } },
  ]);
});
