import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { startCollector, type Collector, type EventBody } from '../support/receivers/collector.ts';
import { startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { testRedis } from '../support/redis/test-redis.ts';
import { eventErrors } from '../support/schemas/event-errors.ts';
import { startSandbox, type TestSandbox } from '../support/partner/sandbox.ts';

const redis = testRedis();
const subscriptions = '/v1/accounts/default/subscriptions';
let sandbox: TestSandbox;
let daemon: DaemonProcess;
let collector: Collector;
let environment: Record<string, string>;

beforeAll(async () => {
  sandbox = await startSandbox();
  await sandbox.seed(130);
  await sandbox.set('f_main', { status: 'PENDING' });
  environment = {
    REDIS_URL: redis.url,
    REDIS_PREFIX: redis.prefix,
    PARTNER_BASE_URL: sandbox.baseUrl,
    PARTNER_KEY: 'sandbox-key',
    PARTNER_MAX_RPS: '1000',
  };
  daemon = await startDaemonProcess(environment);
  await baseline();
});

beforeEach(async () => {
  collector = await startCollector();
  return async () => collector[Symbol.asyncDispose]();
});

afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
  await redis.cleanup();
});

async function baseline(): Promise<void> {
  await vi.waitFor(async () => {
    const { health } = await daemon.api.ok<{ health: { state: string } }>('GET', '/v1/accounts/default');
    expect(health.state).toBe('ok');
  }, 10_000);
}

async function subscribe(settings: Record<string, unknown> = {}): Promise<string> {
  const body = { url: collector.url, secret: collector.secret, ...settings };
  return (await daemon.api.ok<{ id: string }>('POST', subscriptions, body)).id;
}

async function callbacks(count: number): Promise<EventBody[]> {
  await vi.waitFor(() => expect(collector.received.length).toBeGreaterThanOrEqual(count), 10_000);
  expect(collector.refused).toEqual([]);
  const events = collector.received.map(({ event }) => event);
  expect(events.flatMap(eventErrors)).toEqual([]);
  return events;
}

async function polled(times = 2): Promise<void> {
  const polls = daemon.logs.filter(({ msg }) => msg === 'poll.completed').length;
  await vi.waitFor(
    () =>
      expect(daemon.logs.filter(({ msg }) => msg === 'poll.completed').length).toBeGreaterThanOrEqual(
        polls + times,
      ),
    10_000,
  );
}

describe('the main job', () => {
  test('records no event for the filings of the baseline', async () => {
    const { items } = await daemon.api.ok<{ items: unknown[] }>('GET', '/v1/accounts/default/events');
    expect(items).toEqual([]);
    const { counts } = await daemon.api.ok<{ counts: Record<string, number> }>('GET', '/v1/accounts/default');
    expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(131);
  });

  test('delivers a rejection once, with its reason, the filing verbatim and true times', async () => {
    await subscribe();
    const before = Date.now();
    await sandbox.set('f_main', {
      status: 'REJECTED',
      rejectionReason: 'Affidavit is not signed',
      unheardOf: { a: [1] },
    });
    const [event] = await callbacks(1);
    await polled();
    expect(collector.received).toHaveLength(1);
    expect(event).toMatchObject({
      type: 'filing.rejected',
      data: {
        account: 'default',
        filingId: 'f_main',
        status: 'REJECTED',
        previousStatus: 'PENDING',
        rejectionReason: 'Affidavit is not signed',
        completedAt: null,
        sequence: 1,
        changed: ['status', 'rejectionReason'],
        inferred: false,
        filing: { id: 'f_main', status: 'REJECTED', unheardOf: { a: [1] } },
      },
    });
    const { notBefore, notAfter } = event?.data.observed ?? { notBefore: '', notAfter: '' };
    expect(event?.timestamp).toBe(notAfter);
    expect(Date.parse(notBefore)).toBeLessThanOrEqual(Date.parse(notAfter));
    expect(Date.parse(notAfter)).toBeGreaterThanOrEqual(before - 5);
    expect(collector.received[0]?.headers).toMatchObject({ 'content-type': 'application/json' });
    expect(collector.received[0]?.headers['user-agent']).toMatch(/^filing-webhooks\/\d/);
  });

  test('numbers the events of a filing without gaps through completion and reopening', async () => {
    await sandbox.set('f_life', { status: 'UNPAID' });
    await polled();
    await subscribe();
    for (const status of ['PAID', 'PENDING', 'COMPLETED', 'PENDING', 'HELD_FOR_REVIEW', 'COMPLETED']) {
      await sandbox.set('f_life', { status });
      await polled();
    }
    const events = await callbacks(6);
    expect(events.map(({ type }) => type)).toEqual([
      'filing.paid',
      'filing.pending',
      'filing.completed',
      'filing.reopened',
      'filing.status_changed',
      'filing.completed',
    ]);
    expect(events.map(({ data }) => data.sequence)).toEqual([2, 3, 4, 5, 6, 7]);
    expect(events.map(({ data }) => data.previousStatus)).toEqual([
      'UNPAID',
      'PAID',
      'PENDING',
      'COMPLETED',
      'PENDING',
      'HELD_FOR_REVIEW',
    ]);
  });

  test('announces a filing born COMPLETED as created', async () => {
    await subscribe();
    await sandbox.set('f_born', { status: 'COMPLETED' });
    const [event] = await callbacks(1);
    expect(event).toMatchObject({
      type: 'filing.created',
      data: { filingId: 'f_born', status: 'COMPLETED', previousStatus: null, sequence: 1 },
    });
  });

  test('tells of a filing that is gone, and that it is back', async () => {
    await sandbox.set('f_gone', { status: 'PAID' });
    await polled();
    await subscribe();
    await sandbox.forget('f_gone');
    await callbacks(1);
    await sandbox.set('f_gone', { status: 'PENDING' });
    const events = await callbacks(2);
    expect(events.map(({ type }) => type)).toEqual(['filing.removed', 'filing.restored']);
    expect(events[1]?.data).toMatchObject({ status: 'PENDING', previousStatus: 'PAID', sequence: 3 });
  });

  test('sends a subscription only the types and states that it asked for', async () => {
    await sandbox.set('f_ca', {
      status: 'PENDING',
      filingState: { id: '1', name: 'California', stateAbbr: 'CA' },
    });
    await sandbox.set('f_tx', {
      status: 'PENDING',
      filingState: { id: '2', name: 'Texas', stateAbbr: 'TX' },
    });
    await polled();
    await subscribe({ eventTypes: ['filing.rejected'], states: ['TX'] });
    await sandbox.set('f_ca', { status: 'REJECTED', rejectionReason: 'no' });
    await sandbox.set('f_tx', { status: 'PAID' });
    await polled();
    await sandbox.set('f_tx', { status: 'REJECTED', rejectionReason: 'no' });
    await callbacks(1);
    await polled();
    expect(collector.received.map(({ event }) => [event.type, event.data.filingId])).toEqual([
      ['filing.rejected', 'f_tx'],
    ]);
  });

  test('redelivers after a 503 under the same webhook-id and the same bytes', async () => {
    await sandbox.set('f_retried', { status: 'PAID' });
    await polled();
    await subscribe();
    collector.answer(503);
    await sandbox.set('f_retried', { status: 'PENDING' });
    await callbacks(2);
    collector.answer(200);
    const sofar = collector.received.length;
    await callbacks(sofar + 1);
    await polled(3);
    expect(collector.received).toHaveLength(sofar + 1);
    expect(new Set(collector.received.map(({ id }) => id)).size).toBe(1);
    expect(new Set(collector.received.map(({ raw }) => raw)).size).toBe(1);
    const numbers = collector.received.map(({ headers }) => headers['webhook-attempt']);
    expect(numbers).toEqual(numbers.map((_, i) => String(i + 1)));
  });

  test('gives an event up when its schedule is exhausted, and delivers the next one of the filing', async () => {
    await sandbox.set('f_dead', { status: 'UNPAID' });
    await polled();
    const id = await subscribe();
    collector.answer(500);
    await sandbox.set('f_dead', { status: 'PAID' });
    await callbacks(4);
    collector.answer(200);
    await vi.waitFor(async () => {
      const { items } = await daemon.api.ok<{ items: unknown[] }>(
        'GET',
        `${subscriptions}/${id}/dead-letters`,
      );
      expect(items).toHaveLength(1);
    }, 10_000);
    await sandbox.set('f_dead', { status: 'PENDING' });
    const events = await callbacks(5);
    expect(events.at(-1)?.type).toBe('filing.pending');
    const { items } = await daemon.api.ok<{ items: { attempt: number; statusCode: number }[] }>(
      'GET',
      `${subscriptions}/${id}/attempts`,
    );
    expect(items.map(({ attempt, statusCode }) => [attempt, statusCode])).toEqual([
      [1, 200],
      [4, 500],
      [3, 500],
      [2, 500],
      [1, 500],
    ]);
  });

  test.each(['SIGKILL', 'SIGTERM'] as const)(
    'loses and repeats nothing when it is ended by %s and started again',
    async (signal) => {
      await sandbox.set(`f_${signal}`, { status: 'UNPAID' });
      await polled();
      await subscribe();
      await sandbox.set(`f_${signal}`, { status: 'PAID' });
      await callbacks(1);
      await polled();
      expect(await daemon.end(signal)).toBe(signal === 'SIGTERM' ? 0 : null);
      await sandbox.set(`f_${signal}`, { status: 'PENDING' });
      daemon = await startDaemonProcess(environment);
      const events = await callbacks(2);
      await polled();
      expect(events.map(({ type }) => type)).toEqual(['filing.paid', 'filing.pending']);
      expect(collector.received).toHaveLength(2);
      expect((events[1]?.data.sequence ?? 0) - (events[0]?.data.sequence ?? 0)).toBe(1);
    },
  );
});
