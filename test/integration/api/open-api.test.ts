import { buildRecoveredEvent } from '../../../src/delivery/operational-events.ts';
import { buildDigestEvent } from '../../../src/daemon/upkeep/digests.ts';
import { buildExpiryEvent } from '../../../src/subscriptions/certificate-warnings.ts';
import { createHash } from 'node:crypto';
import { Counter, Registry } from 'prom-client';
import { Compile } from 'typebox/compile';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventTypes } from '../../../src/events/event-types.ts';
import { createPageLinks } from '../../../src/events/page-link.ts';
import { buildFilingEvent, buildOperationalEvent } from '../../../src/events/event.ts';
import { testRedis } from '../../support/redis/test-redis.ts';
import { inlined } from '../../support/api/documented.ts';
import { createApiFixture, type ApiFixture } from '../../support/api/api-fixture.ts';

interface Document {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, Operation>>;
  readonly webhooks: Record<string, { readonly post: Operation }>;
  readonly components: { readonly schemas: Record<string, Record<string, unknown>> };
}

interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly security?: unknown[];
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Record<string, { readonly schema: { readonly $ref: string } }> };
  readonly responses: Record<string, { readonly description: string; readonly content?: object }>;
}

const redis = testRedis();
const metrics = new Registry();
let api: ApiFixture;
let document: Document;

beforeAll(async () => {
  api = await createApiFixture(redis.connect(), redis.prefix, {
    metrics,
    beforeScrape: () => Promise.reject(new Error('Redis is away')),
  });
  const answer = await api.call('GET', '/openapi.json', undefined, { token: null });
  document = answer.body as unknown as Document;
});

afterAll(async () => {
  await api.app.close();
  await redis.cleanup();
});

test('the document is served as OpenAPI 3.1 and 3.0, with the same paths', async () => {
  const answer = await api.call('GET', '/openapi-3.0.json', undefined, { token: null });
  const older = answer.body as unknown as Document;
  expect([document.openapi, older.openapi]).toEqual(['3.1.0', '3.0.4']);
  expect(Object.keys(older.paths)).toEqual(Object.keys(document.paths));
});

test('it has every route of the API that speaks JSON', () => {
  const documented = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  );
  const table = api.app.getDecorator<ReadonlyMap<string, ReadonlySet<string>>>('routeTable');
  const routes = [...table]
    .filter(([path]) => !/^\/(?:$|docs|openapi(?:-3\.0)?\.json|problems)/.test(path))
    .flatMap(([path, methods]) =>
      [...methods].map((method) => `${method} ${path.replaceAll(/:(\w+)/g, '{$1}')}`),
    )
    .filter((route) => !route.startsWith('HEAD '));
  expect(documented.toSorted()).toEqual(routes.toSorted());
});

test('every operation has an id of its own, a summary, and its errors as problem details', () => {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const ids = operations.map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).not.toContain(undefined);
  for (const { summary, security, responses } of operations) {
    expect(summary).toBeTruthy();
    expect(Object.values(responses).map((one) => one.description)).not.toContain('Default Response');
    if (security !== undefined) continue;
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['401', '404', '503', 'default']));
    expect(responses['401']?.content).toHaveProperty(['application/problem+json']);
  }
});

test('every event type is a webhook with its headers, and real bodies fit its schema', () => {
  expect(Object.keys(document.webhooks).toSorted()).toEqual(Object.keys(eventTypes).toSorted());
  for (const [type, { post }] of Object.entries(document.webhooks)) {
    expect(post.parameters?.map(({ name }) => name)).toEqual([
      'webhook-id',
      'webhook-timestamp',
      'webhook-signature',
      'webhook-attempt',
    ]);
    const { $ref = '' } = post.requestBody?.content['application/json']?.schema ?? {};
    const schema = inlined(document, { $ref }) as Record<string, never>;
    for (const filingBytesMax of [Infinity, 1])
      for (const body of bodiesOf(type, filingBytesMax))
        expect(Compile(schema).Errors(JSON.parse(body))).toEqual([]);
  }
});

// With the address of its page, and without.
function bodiesOf(type: string, filingBytesMax: number): string[] {
  const event = { filingId: type.startsWith('filing.') ? 'f' : '', body: realBody(type, filingBytesMax) };
  return [event.body, createPageLinks('https://a.example')('a', event).body];
}

function realBody(type: string, filingBytesMax: number): string {
  const details = { lastCompletePollAt: null, lastError: 'timeout' };
  if (type === 'ping')
    return JSON.stringify({
      id: 'evt_1',
      type,
      timestamp: new Date().toISOString(),
      data: { account: 'a', subscription: 'sub_1' },
    });
  if (type === 'subscription.disabled') {
    return buildOperationalEvent('a', type, '1', 1, {
      subscription: 'sub_1',
      endpoint: 'https://a',
      reason: 'gone',
    }).body;
  }
  if (type === 'subscription.recovered') {
    const about = { account: 'a', id: 'sub_1', url: 'https://a' };
    return buildRecoveredEvent(about, { disabledAt: 1, waiting: 2, lost: 0 }, 3).body;
  }
  if (type === 'subscription.fell_behind') {
    const about = { subscription: 'sub_1', endpoint: 'https://a', events: 3 };
    return buildOperationalEvent('a', type, '1', 1, about).body;
  }
  if (type === 'account.certificate_expiring') {
    const about = { account: 'a', id: 'sub_1', url: 'https://a', tls: null };
    return buildExpiryEvent(about, { kind: 'ca', notAfter: 1 }, 1).body;
  }
  if (type === 'account.digest') {
    const counts = {
      open: 0,
      new: 0,
      overdue: 0,
      unseen: 0,
      answered: 0,
      toldToNobody: 0,
      failingEndpoints: 0,
    };
    return buildDigestEvent('a', '2026-11-23', { counts, rejections: [], since: 0, asOf: 1 }, 1).body;
  }
  if (type.startsWith('account.')) return buildOperationalEvent('a', type, '1', 1, details).body;
  const state = { status: 'PAID', completedAt: null, rejectionReason: null, removed: false };
  const note = { by: 'a', kind: 'note', text: 'b', assignee: null } as const;
  const change = {
    account: 'a',
    generation: 'g',
    filingId: 'f',
    type,
    sequence: 1,
    before: null,
    after: state,
    changed: ['status'],
    inferred: false,
    notBefore: 1,
    notAfter: 2,
    document: type === 'filing.removed' ? null : { id: 'f', status: 'PAID', extra: [1] },
    ...(type === 'filing.due' ? { due: { dueAt: 1, threshold: 'P7D', seen: false } } : {}),
    ...(type === 'filing.noted' ? { document: null, details: null, note } : {}),
    ...(type === 'filing.stalled' ? { stalled: { since: 1, after: 'P1D', seen: false } } : {}),
  };
  return buildFilingEvent(change, filingBytesMax).body;
}

test('the reference page loads nothing from elsewhere and runs only what its policy names', async () => {
  const redirect = await api.app.inject('/docs');
  expect([redirect.statusCode, redirect.headers.location]).toEqual([301, 'docs/']);
  const { body, headers } = await api.app.inject('/docs/');
  const policy = String(headers['content-security-policy']);
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/script-src[^;]*unsafe/);
  const scripts = [...body.matchAll(/<script([^>]*)>([\s\S]*?)<\/script>/g)];
  expect(scripts.map(([, attributes = '']) => /src="([^"]*)"/.exec(attributes)?.[1])).toEqual([
    'js/scalar.js',
    undefined,
  ]);
  const inline = createHash('sha256')
    .update(scripts[1]?.[2] ?? '')
    .digest('base64');
  expect(policy).toContain(`'sha256-${inline}'`);
  expect(body).not.toMatch(/https?:\/\//);
  const script = await api.app.inject('/docs/js/scalar.js');
  expect([script.statusCode, script.body.length > 1_000_000]).toEqual([200, true]);
});

test('a dashboard is the first page', async () => {
  const other = await createApiFixture(redis.connect(), redis.prefix, {
    dashboard: async (scope) => {
      scope.get('/', async () => 'dashboard');
    },
  });
  expect((await other.app.inject('/')).body).toBe('dashboard');
  await other.app.close();
});

test('metrics are printed although they could not be brought up to date', async () => {
  new Counter({ name: 'some_total', help: 'Some.', registers: [metrics] }).inc();
  const answer = await api.call('GET', '/metrics', undefined, { token: null });
  expect(answer.status).toBe(200);
  expect(answer.headers['content-type']).toContain('text/plain');
  expect(answer.text).toContain('some_total 1');
});

test.each([
  [async () => ({ ready: true, reasons: [] }), 200, { ready: true, reasons: [] }],
  [async () => ({ ready: false, reasons: ['no Redis'] }), 503, { ready: false, reasons: ['no Redis'] }],
  [() => Promise.reject(new Error('x')), 503, { ready: false, reasons: [expect.stringContaining('failed')] }],
  [
    () => new Promise<never>(() => undefined),
    503,
    { ready: false, reasons: [expect.stringContaining('too long')] },
  ],
])('readiness %# answers %i', async (readiness, status, body) => {
  const other = await createApiFixture(redis.connect(), redis.prefix, { readiness });
  const answer = await other.call('GET', '/health/ready', undefined, { token: null });
  expect([answer.status, answer.body]).toEqual([status, body]);
  await other.app.close();
});

test('liveness answers 503 with the reason', async () => {
  const verdict = { live: false, reasons: ['polls hang'] };
  const other = await createApiFixture(redis.connect(), redis.prefix, { liveness: () => verdict });
  const answer = await other.call('GET', '/health/live', undefined, { token: null });
  expect([answer.status, answer.body]).toEqual([503, verdict]);
  await other.app.close();
});
