import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { AttemptReport } from '../../../src/delivery/settlement.ts';
import type { PollReport } from '../../../src/polling/poll-reports.ts';
import { createOtlpTracing } from '../../../src/tracing/otlp-tracing.ts';
import type { Tracing } from '../../../src/tracing/tracing.ts';
import { createTestAuthority } from '../../support/receivers/certificates.ts';
import { startTraceCollector, type TraceCollector } from '../../support/receivers/trace-collector.ts';

let collector: TraceCollector;
const errors: string[] = [];

beforeEach(async () => {
  errors.length = 0;
  collector = await startTraceCollector();
});

afterEach(() => collector[Symbol.asyncDispose]());

afterEach(() => {
  for (const name of Object.keys(process.env)) if (name.startsWith('OTEL_')) delete process.env[name];
});

function createTracing(ratio = 1, variables: Readonly<Record<string, string>> = {}): Tracing {
  const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...variables };
  const onError = (error: Error) => void errors.push(error.message);
  return createOtlpTracing(
    { environment, ratio, propagates: true },
    { version: '0.0.0-test', now: Date.now, onError },
  );
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

function attemptOf(
  eventId: string,
  attempt: Partial<AttemptReport['attempt']> = {},
  url = 'https://hooks.example.com/x',
): AttemptReport {
  return {
    subscription: { account: 'a', id: 'sub_1', url },
    attempt: {
      eventId,
      eventType: 'filing.paid',
      filingId: 'f_1',
      attempt: 1,
      outcome: 'delivered',
      statusCode: 200,
      durationMs: 5,
      ...attempt,
    },
    sent: { traceparent: null },
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

test('the context that a callback carries is that of its span, and says whether the trace is sent', async () => {
  const tracing = createTracing(0.5);
  const carried = ids.map((id) => {
    const traceparent = tracing.traceparent(id);
    tracing.attemptReported({ ...attemptOf(id), sent: { traceparent } as AttemptReport['sent'] });
    return traceparent ?? '';
  });
  await tracing.close();
  expect(new Set(carried).size).toBe(ids.length);
  const sent = carried.filter((each) => each.endsWith('-01'));
  const spans = collector.spans.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`);
  expect(spans).toEqual(sent);
  expect(carried.filter((each) => each.endsWith('-00'))).toHaveLength(ids.length - sent.length);
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

test.each<[Partial<AttemptReport['attempt']>, string, Record<string, unknown>, string | undefined]>([
  [
    {},
    'https://hooks.example.com/a?b=c',
    { 'server.address': 'hooks.example.com', 'server.port': 443 },
    undefined,
  ],
  [
    { attempt: 3, statusCode: 503, outcome: 'http_error' },
    'http://[::1]:8080/a',
    { 'server.address': '::1', 'server.port': 8080 },
    '503',
  ],
  [
    { statusCode: 302, outcome: 'redirect' },
    'http://a.example/',
    { 'server.address': 'a.example', 'server.port': 80 },
    'redirect',
  ],
  [
    { statusCode: null, outcome: 'timeout' },
    'https://a.example:8443/',
    { 'server.address': 'a.example', 'server.port': 8443 },
    'timeout',
  ],
])('%j to %s has the attributes of HTTP clients', async (attempt, url, server, errorType) => {
  const tracing = createTracing();
  tracing.attemptReported(attemptOf(ids[0] ?? '', attempt, url));
  await tracing.close();
  const [span] = collector.spans;
  const { attributes = {} } = span ?? {};
  expect(attributes).toMatchObject({
    ...server,
    'http.request.method': 'POST',
    'url.full': `${new URL(url).origin}/REDACTED`,
  });
  expect(attributes['error.type']).toBe(errorType);
  expect(attributes['http.response.status_code']).toBe(
    attempt.statusCode === null ? undefined : (attempt.statusCode ?? 200),
  );
  expect(attributes['http.request.resend_count']).toBe(
    attempt.attempt === undefined ? undefined : attempt.attempt - 1,
  );
  expect(span?.failed).toBe(errorType !== undefined);
});

describe("OpenTelemetry's own variables", () => {
  /** Sends one span with these variables, and waits until it has arrived or was given up. */
  async function sendOne(variables: Readonly<Record<string, string>>): Promise<void> {
    const tracing = createTracing(1, variables);
    tracing.attemptReported(attemptOf(ids[0] ?? ''));
    await tracing.close();
  }

  test('name the resource; the daemon names what they leave out', async () => {
    await sendOne({ OTEL_RESOURCE_ATTRIBUTES: 'service.name=a,deployment.environment.name=of%20ours' });
    expect(collector.spans[0]?.resource).toMatchObject({
      'service.name': 'a',
      'service.version': '0.0.0-test',
      'deployment.environment.name': 'of ours',
    });
    await sendOne({ OTEL_SERVICE_NAME: 'filings' });
    expect(collector.spans[1]?.resource).toMatchObject({ 'service.name': 'filings' });
    expect(errors).toEqual([]);
  });

  test('give headers and compression, those of the traces before those of all signals', async () => {
    await sendOne({
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-team=a%20team,x-key=all',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-key=traces',
      OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    });
    expect(collector.spans).toHaveLength(1);
    expect(collector.requests).toMatchObject([
      { 'x-team': 'a team', 'x-key': 'traces', 'content-encoding': 'gzip' },
    ]);
  });

  test('name the authority of the collector; without it no trace is sent', async () => {
    await using authority = await createTestAuthority();
    await using tls = await startTraceCollector(await authority.issue('collector'));
    const file = join(await mkdtemp(join(tmpdir(), 'filing-webhooks-otel-')), 'ca.pem');
    onTestFinished(() => rm(dirname(file), { recursive: true }));
    await writeFile(file, authority.cert);
    const trusting = { OTEL_EXPORTER_OTLP_ENDPOINT: tls.url, OTEL_EXPORTER_OTLP_CERTIFICATE: file };
    await sendOne(trusting);
    expect(tls.spans).toHaveLength(1);
    await sendOne({ ...trusting, OTEL_EXPORTER_OTLP_CERTIFICATE: `${file}.missing` });
    expect(tls.spans).toHaveLength(1);
    expect(errors).toEqual([
      'OpenTelemetry: Failed to read root certificate file',
      expect.stringMatching(/^traces are not sent: .*certificate/),
    ]);
  });

  test('end an attempt to send', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void silent.close());
    await once(silent, 'listening');
    const { port } = silent.address() as AddressInfo;
    await sendOne({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_TIMEOUT: '50',
    });
    expect(errors).toEqual([expect.stringMatching(/^traces are not sent: .*time/i)]);
  });

  test('are named when they are wrong', async () => {
    await sendOne({
      OTEL_EXPORTER_OTLP_COMPRESSION: 'br',
      OTEL_EXPORTER_OTLP_TIMEOUT: 'soon',
      OTEL_RESOURCE_ATTRIBUTES: 'team=a=b',
    });
    const named = ['COMPRESSION', 'TIMEOUT', 'RESOURCE_ATTRIBUTES'];
    expect(named.filter((name) => errors.some((error) => error.includes(name)))).toEqual(named);
    expect(errors).toHaveLength(3);
    expect(collector.spans).toHaveLength(1);
  });
});
