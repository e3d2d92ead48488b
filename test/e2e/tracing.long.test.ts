import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { tmpdir } from 'node:os';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { apiToken, startDaemonProcess, type DaemonProcess } from '../support/daemon/daemon-process.ts';
import { receiverSecret, startReceiver, type Receiver } from '../support/receivers/receiver.ts';
import { testRedis } from '../support/redis/test-redis.ts';
import { startSandbox, type TestSandbox } from '../support/partner/sandbox.ts';
import { startTraceCollector, type CollectedSpan } from '../support/receivers/trace-collector.ts';
import { expectNone } from '../support/expect-none.ts';

const fast = { timeout: 20_000, interval: 50 };
const headerValue = 'the-key-that-the-receiver-wants';
let sandbox: TestSandbox;
let receiver: Receiver;
const used: ReturnType<typeof testRedis>[] = [];

beforeAll(async () => {
  sandbox = await startSandbox();
  receiver = await startReceiver();
});

afterAll(async () => {
  await receiver[Symbol.asyncDispose]();
  await sandbox[Symbol.asyncDispose]();
  for (const redis of used) await redis.cleanup();
});

/** The environment of a deployment of its own. */
function newDeployment(): Record<string, string> {
  const redis = testRedis();
  used.push(redis);
  return {
    REDIS_URL: redis.url,
    REDIS_PREFIX: redis.prefix,
    PARTNER_BASE_URL: sandbox.baseUrl,
    PARTNER_KEY: 'sandbox-key',
    PARTNER_MAX_RPS: '1000',
  };
}

/** Subscribes, moves a filing, and waits for its callback to be acknowledged; returns the ids. */
async function deliverOne(
  { api }: DaemonProcess,
  filing: string,
): Promise<{ event: string; subscription: string }> {
  await sandbox.set(filing, { status: 'UNPAID' });
  await vi.waitFor(() => api.ok('GET', `/v1/accounts/default/filings/${filing}`), fast);
  const { id } = await api.ok<{ id: string }>('POST', '/v1/accounts/default/subscriptions', {
    url: `${receiver.url}/path-of-the-receiver?query=of-the-receiver`,
    secret: receiverSecret,
    headers: { 'x-api-key': headerValue },
  });
  await sandbox.set(filing, { status: 'REJECTED', rejectionReason: 'The reason that was given' });
  await vi.waitFor(
    () => expect(receiver.accepted.some(({ filingId }) => filingId === filing)).toBe(true),
    fast,
  );
  const callback = receiver.accepted.findLast(({ filingId }) => filingId === filing);
  return { event: callback?.id ?? '', subscription: id };
}

function named(spans: readonly CollectedSpan[], name: string): CollectedSpan[] {
  return spans.filter((span) => span.name === name);
}

test('the poll that saw a change and every attempt to deliver it are one trace, across processes, with no secret in it', async () => {
  await using collector = await startTraceCollector();
  const environment = {
    ...newDeployment(),
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=of%20ours',
    OTEL_SERVICE_NAME: 'filings',
  };
  await using poller = await startDaemonProcess({ ...environment, ROLES: 'poll' });
  await using deliverer = await startDaemonProcess({ ...environment, ROLES: 'api,deliver' });
  receiver.answer(({ attempt }) => (attempt === 1 ? 503 : 200));
  onTestFinished(() => receiver.answer(200));
  const { event, subscription } = await deliverOne(deliverer, 'f_traced');
  // What is not sent yet is sent when the process ends.
  expect([await poller.end('SIGTERM'), await deliverer.end('SIGTERM')]).toEqual([0, 0]);

  const { spans } = collector;
  const trace = spans.filter(({ traceId }) => `evt_${traceId}` === event);
  const [detected, ...others] = trace.toSorted((a, b) => a.startedAt - b.startedAt);
  const of = {
    'filing_webhooks.account': 'default',
    'filing_webhooks.event.id': event,
    'filing_webhooks.event.type': 'filing.rejected',
    'filing_webhooks.filing': 'f_traced',
  };
  expect(detected).toMatchObject({
    name: 'detect',
    parentSpanId: '',
    failed: false,
    attributes: of,
    resource: { 'service.name': 'filings' },
  });
  const attempt = { name: 'callback', parentSpanId: detected?.spanId };
  const told = {
    ...of,
    'filing_webhooks.subscription': subscription,
    'server.address': '127.0.0.1',
    'url.full': `${new URL(receiver.url).origin}/REDACTED`,
    'server.port': Number(new URL(receiver.url).port),
  };
  expect(others).toMatchObject([
    {
      ...attempt,
      failed: true,
      attributes: { ...told, 'filing_webhooks.attempt': 1, 'http.response.status_code': 503 },
    },
    {
      ...attempt,
      failed: false,
      attributes: { ...told, 'filing_webhooks.outcome': 'delivered', 'http.response.status_code': 200 },
    },
  ]);

  // Each attempt hands its span on, and shows that it did.
  const carried = receiver.received
    .filter(({ id }) => id === event)
    .map(({ headers }) => headers['traceparent']);
  expect(carried).toEqual(others.map(({ traceId, spanId }) => `00-${traceId}-${spanId}-01`));

  const poll = named(spans, 'poll').find(({ spanId }) => spanId === detected?.links[0]?.spanId);
  expect(poll).toMatchObject({
    links: [{ spanId: detected?.spanId }],
    attributes: { 'filing_webhooks.poll.outcome': 'complete', 'filing_webhooks.poll.changes': 1 },
  });
  expect(Number(poll?.attributes['filing_webhooks.poll.requests'])).toBeGreaterThan(0);
  expect(detected?.startedAt).toBe(poll?.startedAt);
  const runs = named(spans, 'deliver').map(({ spanId }) => spanId);
  expect(runs).toEqual(expect.arrayContaining(others.map(({ links }) => links[0]?.spanId)));

  expect(collector.requests[0]).toMatchObject({ 'x-collector-key': 'of ours' });
  const secrets = [
    apiToken,
    receiverSecret.slice('whsec_'.length),
    headerValue,
    'sandbox-key',
    'of ours',
    'path-of-the-receiver',
    'query=',
    'The reason',
    'premium',
    Buffer.alloc(32, 7).toString('base64'),
  ];
  expectNone(secrets, (secret) => collector.text().includes(secret), 'secrets');
});

test('a collector that cannot be reached changes nothing for receivers, is told of like a setting without effect, and does not keep the process', async () => {
  await using daemon = await startDaemonProcess({
    ...newDeployment(),
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
  });
  expect(daemon.logs.filter(({ msg }) => msg === 'config.unheeded_variable')).toMatchObject([
    { variable: 'OTEL_EXPORTER_OTLP_PROTOCOL', heeded: ['http/json'] },
  ]);
  await deliverOne(daemon, 'f_refused');
  await vi.waitFor(() => {
    const errors = daemon.logs.filter(({ msg }) => msg === 'background.error');
    expect(errors.map(({ error }) => error)).toEqual([expect.stringMatching(/^traces are not sent: /)]);
  }, fast);
  await expectEnd(daemon);
});

test('a collector that never answers changes nothing for receivers and does not keep the process', async () => {
  await using silent = await startSilentServer();
  await using daemon = await startDaemonProcess({
    ...newDeployment(),
    OTEL_EXPORTER_OTLP_ENDPOINT: silent.url,
  });
  await deliverOne(daemon, 'f_silent');
  await expectEnd(daemon);
  expect(silent.connections()).toBeGreaterThan(0);
});

async function expectEnd(daemon: DaemonProcess): Promise<void> {
  expect(await daemon.end('SIGTERM')).toBe(0);
  expect(daemon.logs.at(-1)?.['msg']).toBe('daemon.stopped');
}

/** Takes connections and says nothing. */
async function startSilentServer() {
  const connections = new Set<Socket>();
  const server = createServer((socket) => void connections.add(socket.on('error', () => undefined)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    connections: () => connections.size,
    async [Symbol.asyncDispose]() {
      for (const socket of connections) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Notes every module that is loaded, in a file; for NODE_OPTIONS. */
function noteModules(file: string): string {
  const source = `import { appendFileSync } from 'node:fs'; import { registerHooks } from 'node:module';
    registerHooks({ load(url, context, next) { appendFileSync(${JSON.stringify(file)}, url + '\\n'); return next(url, context); } });`;
  return `--import "data:text/javascript;base64,${Buffer.from(source).toString('base64')}"`;
}

test('the libraries for traces are loaded where traces are sent, those of the queue page at the first visit', async () => {
  const file = join(tmpdir(), `filing-webhooks-modules-${randomUUID()}`);
  onTestFinished(() => rm(file, { force: true }));
  const loaded = async (library: string) =>
    (await readFile(file, 'utf8')).includes(`/node_modules/${library}/`);
  await using collector = await startTraceCollector();
  const environment = { ...newDeployment(), NODE_OPTIONS: noteModules(file) };
  {
    await using daemon = await startDaemonProcess({
      ...environment,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_TRACES_SAMPLER: 'always_off',
    });
    await deliverOne(daemon, 'f_untraced');
    expect(await loaded('fastify')).toBe(true);
    expect(await loaded('@opentelemetry/sdk-trace')).toBe(false);
    await daemon.end('SIGTERM');
  }
  expect(collector.requests).toEqual([]);
  await using daemon = await startDaemonProcess({
    ...environment,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  });
  expect(await loaded('@opentelemetry/sdk-trace')).toBe(true);
  await daemon.end('SIGTERM');
});
